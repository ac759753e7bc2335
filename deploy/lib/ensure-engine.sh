#!/usr/bin/env bash
# Sees to it that a container engine answers and that its client has compose and buildx.
#   ensure-engine.sh          install and start what is missing; silent where nothing is
#   ensure-engine.sh --plan   only name what would be installed or started
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=deploy/lib/common.sh
. "$here/common.sh"
# shellcheck source=deploy/lib/debian.sh
. "$here/debian.sh"

LOG=/var/log/dockerd.log
# The first release that knows `!override`, which the compose files use.
COMPOSE_MIN=2.24.4

engine_packages() {
  have dockerd || echo docker.io
  # Newer Debian releases ship the client apart from the engine.
  have docker || { [ -z "$(apt_candidate docker-cli)" ] || echo docker-cli; }
  have iptables || [ -x /usr/sbin/iptables ] || echo iptables
}

compose_fits() {
  local version
  version=$(docker compose version --short 2>/dev/null) || return 1
  version_at_least "${version#v}" "$COMPOSE_MIN"
}

buildx_fits() { docker buildx version >/dev/null 2>&1; }

refused_for_rights() {
  have docker || return 1
  docker info 2>&1 | grep -qi 'permission denied'
}

plan() {
  if ! engine_answers && ! refused_for_rights; then
    local packages
    packages=$(engine_packages | paste -sd' ')
    [ -z "$packages" ] || echo "Debian packages: $packages (the container engine)"
    echo "start the container engine"
  fi
  compose_fits || echo "the docker plugin: compose"
  buildx_fits || echo "the docker plugin: buildx"
}

start_engine() {
  if [ -d /run/systemd/system ]; then
    quietly as_root systemctl enable --now docker
  else
    local mtu
    mtu=$(uplink_mtu)
    local arguments=()
    [ "$mtu" -ge 1500 ] || arguments=(--mtu "$mtu")
    # Left running on purpose; fd 9 is the lock below, which the engine must not inherit.
    # shellcheck disable=SC2016 # expanded by the inner shell
    as_root sh -c 'log=$1; shift; setsid dockerd "$@" >>"$log" 2>&1 </dev/null 9>&- &' sh "$LOG" "${arguments[@]}"
  fi
  local tries=0
  until engine_answers; do
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || die "the container engine did not answer within 30 s" "see $LOG or: journalctl -u docker"
    sleep 0.5
  done
}

ensure_engine() {
  ! engine_answers || return 0
  if refused_for_rights; then
    die "the container engine runs, but $(id -un) may not use it" \
      "run this with sudo, or: sudo usermod -aG docker $(id -un), and log in again"
  fi
  if ! have dockerd || ! have docker; then
    local packages
    mapfile -t packages < <(engine_packages)
    step "installing the container engine (${packages[*]})"
    apt_install "${packages[@]}"
  fi
  engine_answers || {
    step "starting the container engine"
    start_engine
  }
}

# ensure_plugin NAME MINIMUM PACKAGE…: from the machine's own packages where they are new enough, otherwise the
# one binary out of a newer Debian release.
ensure_plugin() {
  local name=$1 minimum=$2 package version unpacked
  shift 2
  step "installing the docker plugin $name"
  for package in "$@"; do
    version=$(apt_candidate "$package")
    if [ -n "$version" ] && version_at_least "${version#*:}" "$minimum"; then
      apt_install "$package"
      return
    fi
  done
  unpacked=$(mktemp -d)
  if ! debian_unpack forky "$unpacked" "docker-$name"; then
    die "could not get the docker plugin $name" "install it by hand (the package docker-$name), then run this again"
  fi
  as_root install -D -m 755 "$unpacked/usr/libexec/docker/cli-plugins/docker-$name" \
    "/usr/local/lib/docker/cli-plugins/docker-$name"
  rm -rf "$unpacked"
}

if [ "${1:-}" = --plan ]; then
  plan
  exit 0
fi

# Two runs at once (a deploy and a test, say) must not start two engines.
exec 9>"${TMPDIR:-/tmp}/remote-tool-server-engine.$(id -u).lock"
flock 9
ensure_engine
compose_fits || ensure_plugin compose "$COMPOSE_MIN" docker-compose-plugin docker-compose-v2 docker-compose
buildx_fits || ensure_plugin buildx 0.11 docker-buildx-plugin docker-buildx
compose_fits || die "docker compose $COMPOSE_MIN or newer is needed, and $(docker compose version --short 2>/dev/null || echo none) is in the way"
