# shellcheck shell=bash
# Sourced: what the scripts need of Debian's packages. Mirrors and keys are the machine's own, so that a
# company mirror or proxy set up for apt serves here too.

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

apt_install() {
  have apt-get || die "there is no apt-get on this machine to install: $*" "install it by hand, then run this again"
  # Package lists may be missing or stale on a fresh machine; one refresh a run is enough.
  if [ -z "${APT_REFRESHED:-}" ]; then
    quietly as_root apt-get update || note "apt-get update had faults; going on with the lists there are"
    APT_REFRESHED=1
  fi
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# The version that the machine's own apt would install, empty where it knows none.
apt_candidate() {
  apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

# Prints the address of the machine's mirror for a label (Debian, or Debian-Security).
debian_mirror() {
  local label=$1
  have apt-get || return 1
  # shellcheck disable=SC2016 # the $(…) are apt's own placeholders
  apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -F'|' -v label="$label" '$1 == "Debian" && $2 == label && !found { found = 1; print $3 }'
}

# debian_unpack SUITE DIR PACKAGE…: unpacks packages of another Debian release under DIR, without installing
# them and without touching the machine's own apt state.
debian_unpack() {
  local suite=$1 target=$2 state mirror deb status=0
  shift 2
  mirror=$(debian_mirror Debian)
  [ -n "$mirror" ] || { note "no Debian mirror in the configuration of apt"; return 1; }
  state=$(mktemp -d)
  chmod 755 "$state"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
  printf 'deb [signed-by=%s] %s %s main\n' "$DEBIAN_KEYRING" "$mirror" "$suite" >"$state/sources.list"
  local options=(
    -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache"
    -o "Dir::Etc::SourceList=$state/sources.list" -o "Dir::Etc::SourceParts=/dev/null"
    -o "APT::Sandbox::User=$(id -un)"
  )
  {
    quietly apt-get "${options[@]}" update &&
      (cd "$state/debs" && quietly apt-get "${options[@]}" download "$@") &&
      for deb in "$state"/debs/*.deb; do dpkg-deb -x "$deb" "$target"; done
  } || status=$?
  rm -rf "$state"
  return "$status"
}
