# shellcheck shell=bash
# Sourced by ensure-images.sh: base images for a machine that reaches no image registry. Each carries the
# label remote-tool-server.standin, so that `docker image ls --filter label=…` tells them apart.

STANDIN_LABEL=remote-tool-server.standin=true
STANDIN_FILES=$(cd "$(dirname "${BASH_SOURCE[0]}")/../standins" && pwd)

# Whatever certificates this machine trusts, a build inside the image has to trust as well: behind a company's
# proxy the packages arrive re-signed.
MACHINE_CERTIFICATES=/etc/ssl/certs/ca-certificates.crt

standin_debian() {
  local image=$1 root mirror security
  mirror=$(debian_mirror Debian)
  [ -n "$mirror" ] || die "no Debian mirror in the configuration of apt, so $image cannot be stood in for"
  security=$(debian_mirror Debian-Security)
  have debootstrap || apt_install debootstrap
  root=$(mktemp -d)
  quietly as_root debootstrap --variant=minbase --keyring="$DEBIAN_KEYRING" trixie "$root" "$mirror"
  {
    echo "deb $mirror trixie main"
    echo "deb $mirror trixie-updates main"
    [ -z "$security" ] || echo "deb $security trixie-security main"
  } | as_root tee "$root/etc/apt/sources.list" >/dev/null
  as_root sh "$STANDIN_FILES/slim-debian.sh" "$root"
  if [ -r "$MACHINE_CERTIFICATES" ]; then
    as_root install -D -m 644 "$MACHINE_CERTIFICATES" "$root/etc/ssl/certs/ca-certificates.crt"
  fi
  as_root tar -C "$root" -c . | docker import -c "LABEL $STANDIN_LABEL" -c 'CMD ["bash"]' - "$image" >/dev/null
  as_root rm -rf "$root"
}

standin_node() {
  local image=$1 debian=$2 context arch registry
  have npm || die "npm is needed to stand in for $image" "install it (apt-get install npm), then run this again"
  case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) die "there is no stand-in for $image on $(uname -m)" ;;
  esac
  context=$(mktemp -d)
  npm_unpack "node-linux-$arch@24" "$context/node"
  npm_unpack npm@11 "$context/npm"
  chmod 755 "$context/node/bin/node"
  registry=$(npm config get registry 2>/dev/null)
  echo "registry=$registry" >"$context/npmrc"
  quietly docker build --label "$STANDIN_LABEL" --build-arg "DEBIAN_IMAGE=$debian" \
    -t "$image" -f "$STANDIN_FILES/node.Dockerfile" "$context"
  rm -rf "$context"
}

standin_caddy() {
  local image=$1 debian=$2 context
  context=$(mktemp -d)
  debian_unpack forky "$context/caddy" caddy || die "could not get the Debian package caddy to stand in for $image"
  quietly docker build --label "$STANDIN_LABEL" --build-arg "DEBIAN_IMAGE=$debian" \
    -t "$image" -f "$STANDIN_FILES/caddy.Dockerfile" "$context"
  rm -rf "$context"
}

# npm_unpack PACKAGE DIR: one package's own files, nothing of what it depends on, and no script of it run.
npm_unpack() {
  local package=$1 target=$2
  mkdir -p "$target"
  (cd "$target" && quietly npm pack --ignore-scripts --silent "$package" && tar -xzf ./*.tgz --strip-components=1 && rm ./*.tgz)
}
