# shellcheck shell=bash
# Sourced: the settings of a real deployment (.env), asked for on a terminal and otherwise named.

# Name, and the question that asks for it.
REQUIRED_SETTINGS=(
  "MESH_API_KEY|Mesh network API key (scope: devices, read)"
  "CODE_HOST_TOKEN|Code host access token (scopes: gist, and repo for code search)"
  "PUBLIC_HOST|Public host name, as mcp.example.org (localhost for this machine alone)"
  "PROXY_ALLOWED_DOMAINS|Domains that fetch_external may call, separated by commas"
)
SECRET_SETTINGS=" MESH_API_KEY CODE_HOST_TOKEN "

create_env() {
  local file=$1
  [ ! -f "$file" ] || return 0
  step "creating $file with a new secret"
  (umask 077 && cp .env.example "$file")
  chmod 600 "$file"
  env_fill "$file" MCP_SECRET "$(random_hex 32)"
  local mtu
  mtu=$(uplink_mtu)
  [ "$mtu" -ge 1500 ] || env_fill "$file" NETWORK_MTU "$mtu"
}

# PUBLIC_HOST may be given for one run (PUBLIC_HOST=… deploy/up), as compose takes it too. The domains may stand in
# the YAML file instead, where they can be changed without a restart.
setting_given() {
  [ -n "$(env_value "$1" "$2")" ] && return
  case $2 in
    PUBLIC_HOST) [ -n "${PUBLIC_HOST:-}" ] ;;
    PROXY_ALLOWED_DOMAINS) grep -qs '^ *allowed_domains:' "${CONFIG_DIR:-deploy/config}/service.config.yaml" ;;
    *) false ;;
  esac
}

ask_setting() {
  local file=$1 name=$2 question=$3 answer=''
  while [ -z "$answer" ]; do
    if [[ $SECRET_SETTINGS == *" $name "* ]]; then
      read -r -s -p "$question: " answer </dev/tty && echo
    else
      read -r -p "$question: " answer </dev/tty
    fi
  done
  env_fill "$file" "$name" "$answer"
}

complete_env() {
  local file=$1 entry name missing=()
  [ -n "$(env_value "$file" MCP_SECRET)" ] || env_fill "$file" MCP_SECRET "$(random_hex 32)"
  for entry in "${REQUIRED_SETTINGS[@]}"; do
    name=${entry%%|*}
    setting_given "$file" "$name" && continue
    if [ -t 0 ]; then
      ask_setting "$file" "$name" "${entry#*|}"
    else
      missing+=("$name: ${entry#*|}")
    fi
  done
  [ "${#missing[@]}" -eq 0 ] || die "$file lacks:" "${missing[@]}" "fill them in, or run deploy/up on a terminal to be asked"
  env_without_dollars "$file"
}

# The key that the server logs in with. Made here where there is none, so that there is one to authorise.
ensure_ssh_key() {
  local key=$1 comment=$2
  if [ -f "$key" ]; then
    # The mount is read-only, so the server cannot mend this itself.
    [ -z "$(find "$key" -perm /077)" ] || { note "others could read $key: chmod 600" && chmod 600 "$key"; }
    return 0
  fi
  mkdir -p "$(dirname "$key")"
  have ssh-keygen || apt_install openssh-client
  ssh-keygen -q -t ed25519 -N '' -C "$comment" -f "$key"
  chmod 600 "$key"
  step "created an SSH key; let it into the account it may use on each device (~/.ssh/authorized_keys):"
  note "$(cat "$key.pub")"
}
