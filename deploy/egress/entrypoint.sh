#!/usr/bin/env bash
# Writes the lists that squid.conf refers to, from the environment, and becomes Squid.
set -euo pipefail

lists=/run/egress
mkdir -p "$lists"

# One entry to a line. An entry that is neither a name nor an address would be read as a rule of its own kind
# (".example" covers all subdomains, "-i" is an option), so it ends the start instead.
write_hosts() {
  local file=$1 name=$2 entry
  : >"$file"
  while IFS= read -r -d, entry; do
    entry=${entry//[[:space:]]/}
    entry=${entry#\[}
    entry=${entry%\]}
    [ -n "$entry" ] || continue
    if [[ ! $entry =~ ^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$ && ! $entry =~ ^[0-9A-Fa-f:.]+$ ]]; then
      echo "$name: \"$entry\" is neither a host name nor an address" >&2
      exit 1
    fi
    printf '%s\n' "${entry,,}" >>"$file"
  done <<<"$3,"
}

write_hosts "$lists/allowed-private-hosts" BROWSER_ALLOWED_PRIVATE_HOSTS "${BROWSER_ALLOWED_PRIVATE_HOSTS:-}"

# The server's own public door is not for pages either, by name or by address.
write_hosts "$lists/own-names" PUBLIC_HOST "${PUBLIC_HOST:-}"
: >"$lists/own-addresses"
if [ -n "${PUBLIC_HOST:-}" ] && [ "$PUBLIC_HOST" != localhost ]; then
  { getent ahosts "$PUBLIC_HOST" || true; } | awk '{ print $1 }' | sort -u >"$lists/own-addresses"
fi

exec squid -N -f /etc/egress/squid.conf
