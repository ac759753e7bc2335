# shellcheck shell=bash
# Sourced: building and starting the stack, with short lines while it lasts and the cause where it fails.

compose() { docker compose --env-file "$ENV_FILE" "$@"; }

# One short line for each build step that really runs; what the cache answers is not worth a line.
build_progress() {
  awk '
    /^#[0-9]+ \[[^]]+\] / {
      if (!($1 in name)) { id = $1; sub(/^#[0-9]+ /, ""); gsub(/--mount=[^ ]+ +/, ""); gsub(/  +/, " "); name[id] = substr($0, 1, 100) }
      next
    }
    /^#[0-9]+ [0-9.]+ / && ($1 in name) && !($1 in shown) { shown[$1] = 1; print "    " name[$1]; fflush() }
  '
}

build_images() {
  local log=deploy/state/build.log
  step "building the images (the first time takes a few minutes)"
  mkdir -p deploy/state
  if ! compose --progress plain build 2>&1 | tee "$log" | build_progress; then
    tail -n 30 "$log" | sed 's/^/    | /' >&2
    die "building the images failed" "the whole log is in $log"
  fi
}

start_stack() {
  step "starting the containers and waiting until each is healthy"
  local log=deploy/state/start.log
  if ! compose --progress plain up -d --no-build --remove-orphans --wait --wait-timeout 180 >"$log" 2>&1; then
    explain_failure "$log"
  fi
}

explain_failure() {
  local log=$1 service
  if grep -qiE 'port is already allocated|address already in use' "$log"; then
    grep -iE 'port is already allocated|address already in use' "$log" | tail -n 1 >&2
    die "a port that Caddy needs is taken" "set HTTP_PORT and HTTPS_PORT in $ENV_FILE, or stop what holds the port"
  fi
  local unwell
  unwell=$(compose ps -a --format '{{.Service}} {{.State}} {{.Health}}' | awk '!($2 == "running" && ($3 == "healthy" || $3 == "")) { print $1 }')
  for service in $unwell; do
    echo "--- the last lines of $service:" >&2
    compose logs --no-color --no-log-prefix --tail 15 "$service" 2>&1 | sed 's/^/    | /' >&2
  done
  [ -n "$unwell" ] || tail -n 15 "$log" | sed 's/^/    | /' >&2
  die "the stack did not come up${unwell:+; not well: $(echo "$unwell" | paste -sd' ')}" \
    "mend what the lines above name, then run this again" \
    "all logs: docker compose --env-file $ENV_FILE logs"
}
