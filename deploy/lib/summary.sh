# shellcheck shell=bash
# Sourced: the check after the start, and what to type next.

ROOT_CERTIFICATE=deploy/state/caddy-root.crt
SERVER_IMAGE=remote-tool-server/server:0.1.0

public_host() {
  local host=${PUBLIC_HOST:-$(env_value "$ENV_FILE" PUBLIC_HOST)}
  echo "${host:-localhost}"
}

https_port() {
  local port=${HTTPS_PORT:-$(env_value "$ENV_FILE" HTTPS_PORT)}
  echo "${port:-443}"
}

base_url() {
  local port
  port=$(https_port)
  [ "$port" = 443 ] && port='' || port=":$port"
  echo "https://$(public_host)$port"
}

down_command() { echo "./deploy/down$([ "$DEMO" = false ] || echo ' --demo')"; }

# Only localhost has a certificate of Caddy's own authority, which clients have to be told of.
fetch_root_certificate() {
  [ "$(public_host)" = localhost ] || return 0
  local tries=0
  until compose cp caddy:/data/caddy/pki/authorities/local/root.crt "$ROOT_CERTIFICATE" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -le 20 ] || die "Caddy made no certificate authority for localhost" "docker compose --env-file $ENV_FILE logs caddy"
    sleep 0.5
  done
  # Caddy keeps it to itself, but it is public: whoever connects has to be able to read it.
  chmod 644 "$ROOT_CERTIFICATE"
}

self_check() {
  step "checking it through Caddy, as a client would"
  local certificate=() secret
  secret=$(env_value "$ENV_FILE" MCP_SECRET)
  if [ "$(public_host)" = localhost ]; then
    certificate=(-e CHECK_CA=/root.crt -v "$PWD/$ROOT_CERTIFICATE:/root.crt:ro")
  fi
  # The secret goes by the environment and not the arguments, which every account of the host can read.
  if ! MCP_SECRET=$secret docker run --rm -i --network host --read-only --cap-drop ALL --user 10001 \
    --security-opt no-new-privileges -e MCP_SECRET -e "CHECK_HOST=$(public_host)" -e "CHECK_PORT=$(https_port)" \
    -e "CHECK_DEMO=$DEMO" "${certificate[@]}" --entrypoint node "$SERVER_IMAGE" --input-type=module - \
    <deploy/self-check.mjs; then
    [ "$(public_host)" = localhost ] ||
      note "for a certificate, $(public_host) must point to this machine, and ports 80 and 443 be open to the internet"
    die "the stack runs, but the check above failed" "logs: docker compose --env-file $ENV_FILE logs" \
      "stop it: $(down_command)"
  fi
}

doctor_command() { echo "docker compose --env-file $ENV_FILE exec server remote-tool-server doctor"; }

# What is still to be mended (a device that does not let the new key in yet, say) is told and not fatal.
doctor() {
  step "asking the server's doctor"
  compose exec -T server remote-tool-server doctor 2>&1 | sed 's/^/    /' ||
    note "the server runs; what failed above is still to be mended, then ask again: $(doctor_command)"
}

summary() {
  local url secret trust=''
  url=$(base_url)
  secret=$(env_value "$ENV_FILE" MCP_SECRET)
  echo
  if [ "$DEMO" = true ]; then
    echo "The DEMO of remote-tool-server is running: made-up devices and accounts, reachable from this machine only."
  else
    echo "remote-tool-server is running."
  fi
  echo
  echo "  URL to paste into a client (it holds the secret, treat it as a password):"
  echo "    $url/mcp?token=$secret"
  if [ "$(public_host)" = localhost ]; then
    trust="NODE_EXTRA_CA_CERTS=$PWD/$ROOT_CERTIFICATE "
    echo "  Its certificate is Caddy's own; the root to trust is $PWD/$ROOT_CERTIFICATE"
    echo "  (clients on Node: set NODE_EXTRA_CA_CERTS to it when you start them, as below)"
  fi
  cat <<NEXT

  Claude Code:   ${trust}claude mcp add --transport http remote-tools $url/mcp --header "Authorization: Bearer $secret"
                 then start it as: ${trust}claude
  VS Code:       {"servers": {"remote-tools": {"type": "http", "url": "$url/mcp?token=$secret"}}}
  Cursor:        {"mcpServers": {"remote-tools": {"url": "$url/mcp?token=$secret"}}}

  Logs:    docker compose --env-file $ENV_FILE logs -f
  Audit:   docker compose --env-file $ENV_FILE exec server remote-tool-server audit tail --follow
  Doctor:  $(doctor_command)
  Update:  git pull && ./deploy/up$([ "$DEMO" = false ] || echo ' --demo')
  Stop:    $(down_command)
  Remove:  $(down_command) --volumes
NEXT
}
