# shellcheck shell=bash
# Sourced: the settings of the demo (.env.demo), all of them made up here.

DEMO_ENV=.env.demo
DEMO_KEY=./deploy/ssh/demo-key

port_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
  local port=$1
  while port_taken "$port"; do port=$((port + 1)); done
  echo "$port"
}

create_demo_env() {
  [ ! -f "$DEMO_ENV" ] || return 0
  local port
  port=$(free_port 8443)
  step "creating $DEMO_ENV (made-up settings, for the demo only)"
  (
    umask 077
    cat >"$DEMO_ENV" <<SETTINGS
# DEMO: made up by deploy/up --demo, worth nothing anywhere else. Delete it to have a new one made.
# Everything compose needs to know of the demo is here too: docker compose --env-file $DEMO_ENV ps
COMPOSE_PROJECT_NAME=remote-tool-server-demo
COMPOSE_FILE=docker-compose.yml:docker-compose.demo.yml:deploy/demo/addresses.yml
ENV_FILE=$DEMO_ENV
SSH_KEY_FILE=$DEMO_KEY
NETWORK_MTU=$(uplink_mtu)
HTTPS_PORT=$port
PUBLIC_HOST=localhost
MCP_SECRET=$(random_hex 32)
MESH_API_KEY=demo-mesh-api-key
CODE_HOST_TOKEN=demo-code-host-token
PROXY_ALLOWED_DOMAINS=demo-site
FETCH_ALLOW_PRIVATE_DOMAINS=demo-site
SETTINGS
  )
}

# A port that something else has taken since would fail the start; ours being up is what took it otherwise.
renew_demo_port() {
  local port
  port=$(env_value "$DEMO_ENV" HTTPS_PORT)
  if port_taken "$port" && [ -z "$(docker compose --env-file "$DEMO_ENV" ps -q caddy 2>/dev/null)" ]; then
    note "port $port is taken by something else; taking $(free_port "$port")"
    sed -i "s/^HTTPS_PORT=.*/HTTPS_PORT=$(free_port "$port")/" "$DEMO_ENV"
  fi
}
