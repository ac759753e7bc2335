#!/usr/bin/env bash
# Chromium and the relay to its debugging port. Arguments are passed on to Chromium.
set -euo pipefail

# Every page goes through the filtering proxy, addresses of this machine included, and nothing goes around it: no
# UDP of QUIC or WebRTC, and no look-up of names here, which would carry data out by itself. Without the proxy no
# page opens.
proxy=${EGRESS_PROXY:-http://egress:3128}
proxy_host=${proxy#*://}
proxy_host=${proxy_host%:*}

# Only fatal messages are logged: the others repeat what pages print to their consoles.
# Chromium listens on its own loopback only, whatever it is told, so a relay has to carry 9222 out of here.
browse() {
  /usr/lib/chromium/chromium-headless-shell \
    --remote-debugging-port=9223 \
    --user-data-dir=/tmp/profile \
    --no-first-run \
    --disable-gpu \
    --enable-logging=stderr --log-level=3 \
    --disable-background-networking \
    --disable-component-update \
    --disable-sync \
    --proxy-server="$proxy" \
    --proxy-bypass-list='<-loopback>' \
    --host-resolver-rules="MAP * ~NOTFOUND , EXCLUDE $proxy_host" \
    --disable-quic \
    --force-webrtc-ip-handling-policy=disable_non_proxied_udp \
    "$@"
}

# A browser that a page or the kernel has killed is started again at once, with a new profile: the engine's restart
# policy waits twice as long each time. One that doesn't stay up is left to that policy.
keep_browsing() {
  local short=0 started status
  while [ "$short" -lt 5 ]; do
    rm -rf /tmp/profile
    started=$SECONDS
    status=0
    browse "$@" || status=$?
    echo "Chromium ended with status $status" >&2
    if [ $((SECONDS - started)) -lt 2 ]; then short=$((short + 1)); else short=0; fi
  done
}

keep_browsing "$@" &

# Small messages go out at once (nodelay): held back until the last one is acknowledged, they cost 40 ms each.
# CDP_BIND names this container on the server's network alone, so that its other networks find nothing here.
socat "TCP-LISTEN:9222,bind=${CDP_BIND:-0.0.0.0},fork,reuseaddr,nodelay,max-children=64" TCP:127.0.0.1:9223,nodelay &

wait -n || true
echo "Chromium does not stay up, or the relay ended; stopping so that both start afresh" >&2
exit 1
