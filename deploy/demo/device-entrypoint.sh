#!/bin/sh
# Starts a demo device. DEMO_LOGIN=key admits the key mounted at /demo-key.pub; DEMO_LOGIN=none admits anyone who
# asks without credentials, as a mesh network's SSH feature does for its members.
set -eu

key=/var/lib/host-keys/ssh_host_ed25519_key
# Kept on a volume: a device whose host key changes with every restart would look like an impostor.
[ -f "$key" ] || ssh-keygen -q -t ed25519 -N '' -C "$(hostname)" -f "$key"

mkdir -p /run/sshd
case ${DEMO_LOGIN:-key} in
  none) set -- -o PasswordAuthentication=yes -o PermitEmptyPasswords=yes ;;
  key)
    # Copied because sshd admits only a file of its own user or of root, and the host's file may be neither's.
    cat /demo-key.pub >/run/sshd/authorized_keys
    set -- -o PasswordAuthentication=no -o PermitEmptyPasswords=no
    ;;
  *)
    echo "DEMO_LOGIN must be key or none" >&2
    exit 1
    ;;
esac
exec /usr/sbin/sshd -D -e "$@"
