#!/usr/bin/env bash
# Sees to it that the three base images exist: already here, else pulled, else built as stand-ins from Debian
# packages and npm under the same names, so that the Dockerfile builds unchanged where no registry is reachable.
#   ensure-images.sh          silent where nothing is missing
#   ensure-images.sh --plan   only name what is missing
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=deploy/lib/common.sh
. "$here/common.sh"
# shellcheck source=deploy/lib/debian.sh
. "$here/debian.sh"
# shellcheck source=deploy/lib/standins.sh
. "$here/standins.sh"

# The same names and defaults as the build arguments in docker-compose.yml. Debian comes first: the other
# stand-ins are made on top of it.
images=("${DEBIAN_IMAGE:-debian:trixie-slim}" "${NODE_IMAGE:-node:24-trixie-slim}" "${CADDY_IMAGE:-caddy:2}")

present() { docker image inspect "$1" >/dev/null 2>&1; }

plan() {
  local image
  for image in "${images[@]}"; do
    if ! engine_answers || ! present "$image"; then
      echo "base image $image (pulled; where that fails, a stand-in made with debootstrap, Debian packages and npm)"
    fi
  done
}

ensure_image() {
  local image=$1
  ! present "$image" || return 0
  step "base image $image"
  if docker pull --quiet "$image" >/dev/null 2>&1; then
    return
  fi
  local building="could not be pulled; building a stand-in, which takes about half a minute"
  case $image in
    debian:trixie-slim) note "$building" && standin_debian "$image" ;;
    node:24-trixie-slim) note "$building" && standin_node "$image" "${images[0]}" ;;
    caddy:2) note "$building" && standin_caddy "$image" "${images[0]}" ;;
    *) die "the image $image can neither be pulled nor stood in for" "give an image that this machine can reach" ;;
  esac
}

if [ "${1:-}" = --plan ]; then
  plan
  exit 0
fi

exec 9>"${TMPDIR:-/tmp}/remote-tool-server-images.$(id -u).lock"
flock 9
for image in "${images[@]}"; do ensure_image "$image"; done
