# shellcheck shell=bash
# Sourced by every deploy script: how they talk, how they become root, how a long command is kept quiet.
set -euo pipefail

step() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# An ordinary user of a VPS has sudo; root in a minimal install often has not.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    die "this needs root: $*" "run it again as root, or install sudo"
  fi
}

# Runs a command with its output kept aside, and shows the end of it only where the command failed.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    printf 'failed (exit %s): %s\n' "$status" "$*" >&2
    tail -n 30 "$log" | sed 's/^/    | /' >&2
  fi
  rm -f "$log"
  return "$status"
}

engine_answers() { have docker && docker info >/dev/null 2>&1; }

# True where $1 is the same version as $2 or a newer one.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# The MTU of the interface that leads out of this machine: a container's network must not promise more.
uplink_mtu() {
  local device
  device=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route 2>/dev/null || true)
  if [ -n "$device" ] && [ -r "/sys/class/net/$device/mtu" ]; then
    cat "/sys/class/net/$device/mtu"
  else
    echo 1500
  fi
}
