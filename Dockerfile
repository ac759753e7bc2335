# Targets: server, chromium, egress and caddy make up the appliance; demo-* are for `deploy/up --demo` and the tests.
# Every base image can be named by build argument, for machines that pull from a registry of their own.
ARG NODE_IMAGE=node:24-trixie-slim
ARG DEBIAN_IMAGE=debian:trixie-slim
ARG CADDY_IMAGE=caddy:2

# --- build: a compiler for ssh2's native parts, and the headers of the very Node that will run them ----------
FROM ${NODE_IMAGE} AS toolchain
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt,sharing=locked \
    apt-get update && apt-get install -y --no-install-recommends python3 make g++
ENV npm_package_config_node_gyp_nodedir=/usr/local npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false
WORKDIR /app
COPY package.json package-lock.json ./

FROM toolchain AS build
RUN --mount=type=cache,target=/root/.npm npm ci
COPY tsconfig.json rolldown.config.ts ./
COPY src ./src
RUN npm run build

# What is in the server, with versions and digests (CycloneDX). `npm sbom --omit dev` leaves out each package that
# something of the development uses as well, so the development goes from the lock file first.
FROM toolchain AS sbom
RUN npm pkg delete devDependencies \
  && npm install --package-lock-only --offline --ignore-scripts \
  && npm sbom --sbom-format cyclonedx --package-lock-only >sbom.cdx.json

FROM toolchain AS production
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev
# Without its native parts ssh2 falls back to JavaScript without a word, so ask. Then drop what only the
# compiler needed.
RUN node -e 'require("ssh2/lib/protocol/crypto/build/Release/sshcrypto.node"); require("cpu-features")()' \
  && find node_modules -type d -name obj.target -prune -exec rm -rf {} + \
  && find node_modules/ssh2 node_modules/cpu-features -path '*/build/*' -type f ! -name '*.node' -delete \
  && find node_modules/ssh2 node_modules/cpu-features -path '*/build/*' -type d -empty -delete \
  && rm -rf node_modules/cpu-features/deps node_modules/nan node_modules/buildcheck \
  && find node_modules/@opentelemetry -type d \( -name esm -o -name esnext \) -prune -exec rm -rf {} + \
  && find node_modules -name '*.map' -delete

# --- the browser's command-line tool: one native binary out of a package that carries one for every platform --
FROM ${NODE_IMAGE} AS browser-cli
ARG AGENT_BROWSER_VERSION=0.41.2
RUN --mount=type=cache,target=/root/.npm \
    npm install --global --ignore-scripts "agent-browser@${AGENT_BROWSER_VERSION}" \
  && cd "$(npm root --global)/agent-browser/bin" \
  && native="agent-browser-linux-$(node -p process.arch)" \
  && find . -type f -name 'agent-browser-*' ! -name "$native" -delete \
  && chmod 755 "$native" \
  && ln -sf "../lib/node_modules/agent-browser/bin/$native" /usr/local/bin/agent-browser \
  && agent-browser --version

# --- the server ----------------------------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS server
ARG VERSION=0.1.0
ARG SOURCE_URL=
ARG REVISION=
LABEL org.opencontainers.image.title="remote-tool-server" \
      org.opencontainers.image.description="MCP server that lets an AI assistant reach its owner's devices, accounts and browser" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="${SOURCE_URL}" \
      org.opencontainers.image.revision="${REVISION}" \
      remote-tool-server.sbom="/app/sbom.cdx.json"
# The server starts as root, reads the key, and goes on as this account. Not uid 1000: that is usually the
# ordinary user of the host, who may own the mounted key. 711 lets the key's owner walk in to his own file.
RUN groupadd --gid 10001 service \
  && useradd --uid 10001 --gid 10001 --home-dir /home/service --create-home --shell /usr/sbin/nologin service \
  && install -d -m 711 /root /root/.ssh \
  && install -d -m 755 /config \
  && install -d -m 700 -o service -g service /data/audit /data/ssh
COPY --from=browser-cli /usr/local/lib/node_modules/agent-browser /usr/local/lib/node_modules/agent-browser
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY package.json ./
COPY --from=sbom /app/sbom.cdx.json ./
COPY --from=build /app/dist ./dist
COPY deploy/healthcheck/server-ok.sh /usr/local/bin/server-ok
# COPY would follow a link and bring the browser's tool a second time. The compiled code of all modules is kept beside
# them, which saves a sixth of a start's work; nobody can write to it later.
RUN chmod 755 /usr/local/bin/server-ok && ln -s /app/dist/main.js /usr/local/bin/remote-tool-server \
  && cd /usr/local/bin && ln -s ../lib/node_modules/agent-browser/bin/agent-browser-linux-* agent-browser \
  && test -x agent-browser && cd /app \
  && NODE_COMPILE_CACHE=/app/compiled node -e 'Promise.all(["serve", "health", "deferred"].map((name) => import(`./dist/${name}.js`))).then(([, , { loadDeferred }]) => loadDeferred()).then(() => process.exit(0))' \
  && chmod -R a+rX,go-w /app/compiled
# RUN_AS is whom the server becomes; io_uring has to be off for Node to become anyone.
ENV NODE_ENV=production HOME=/home/service RUN_AS=10001:10001 UV_USE_IO_URING=0 NODE_COMPILE_CACHE=/app/compiled
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=6s --timeout=5s --start-period=20s --retries=3 CMD ["server-ok"]
# Each answer's garbage dies young; without a bound that space alone grows by 60 MB under load.
ENTRYPOINT ["node", "--max-semi-space-size=4", "dist/main.js"]
CMD ["serve"]

# --- Caddy: the official one, for an account without rights ---------------------------------------------------
FROM ${CADDY_IMAGE} AS caddy
RUN mkdir -p /data/caddy /config/caddy && chown -R 10002:10002 /data /config
COPY deploy/healthcheck/http-ok.sh /usr/local/bin/http-ok
COPY Caddyfile /etc/caddy/Caddyfile
RUN chmod 755 /usr/local/bin/http-ok && chmod 644 /etc/caddy/Caddyfile
USER 10002:10002
HEALTHCHECK --interval=6s --timeout=5s --start-period=20s --retries=3 CMD ["http-ok", "2020", "/"]

# --- Chromium ---------------------------------------------------------------------------------------------------
FROM ${DEBIAN_IMAGE} AS chromium
# Rendering is in software here, so the drivers of graphics hardware (and the compiler they bring) go.
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt,sharing=locked \
    apt-get update \
  && apt-get install -y --no-install-recommends chromium-headless-shell socat fonts-dejavu-core \
  && rm -rf /usr/lib/*/libLLVM* /usr/lib/llvm-* /usr/lib/*/libgallium* /usr/lib/*/dri /usr/lib/*/libz3* \
  && useradd --uid 10003 --no-create-home --home-dir /tmp/home --shell /usr/sbin/nologin chromium
COPY deploy/healthcheck/http-ok.sh /usr/local/bin/http-ok
COPY deploy/chromium/entrypoint.sh /usr/local/bin/chromium-entrypoint
RUN chmod 755 /usr/local/bin/http-ok /usr/local/bin/chromium-entrypoint
ENV HOME=/tmp/home
USER chromium
EXPOSE 9222
# Asks Chromium itself: the relay listens on one network only, and takes the container with it when it ends.
HEALTHCHECK --interval=6s --timeout=5s --start-period=20s --retries=3 CMD ["http-ok", "9223", "/json/version"]
ENTRYPOINT ["chromium-entrypoint"]

# --- the browser's way out -------------------------------------------------------------------------------------
FROM ${DEBIAN_IMAGE} AS egress
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt,sharing=locked \
    apt-get update && apt-get install -y --no-install-recommends squid \
  && useradd --uid 10004 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin egress
COPY deploy/egress/squid.conf /etc/egress/squid.conf
COPY deploy/egress/entrypoint.sh /usr/local/bin/egress-entrypoint
RUN chmod 755 /usr/local/bin/egress-entrypoint && chmod 644 /etc/egress/squid.conf
USER egress
EXPOSE 3128
# The answer to a request for the proxy itself comes from Squid alone, whatever the network behind it is like.
HEALTHCHECK --interval=6s --timeout=5s --start-period=20s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && read -r version _ <&3 && [[ $version == HTTP/* ]]"]
ENTRYPOINT ["egress-entrypoint"]

# --- the demo ---------------------------------------------------------------------------------------------------
FROM ${DEBIAN_IMAGE} AS demo-device
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt,sharing=locked \
    apt-get update && apt-get install -y --no-install-recommends openssh-server procps \
  && rm -f /etc/ssh/ssh_host_* \
  && useradd --uid 1000 --create-home --shell /bin/sh demo && passwd -d demo \
  && install -d -m 700 /var/lib/host-keys \
  && install -d -o demo -g demo /srv/app
COPY deploy/demo/sshd_config /etc/ssh/sshd_config
COPY deploy/demo/device-entrypoint.sh /usr/local/bin/device-entrypoint
RUN chmod 755 /usr/local/bin/device-entrypoint && chmod 644 /etc/ssh/sshd_config
EXPOSE 22
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/22 && read -r banner <&3 && [[ $banner == SSH-2.0-* ]]"]
ENTRYPOINT ["device-entrypoint"]

FROM caddy AS demo-site
COPY deploy/demo/Caddyfile /etc/caddy/Caddyfile
COPY deploy/demo/site /srv/site
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["http-ok", "80", "/"]

FROM ${NODE_IMAGE} AS demo-apis
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY package.json ./
COPY test/standins ./test/standins
COPY deploy/healthcheck/http-ok.sh /usr/local/bin/http-ok
RUN chmod 755 /usr/local/bin/http-ok && install -d -o node -g node /data
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s --retries=3 CMD ["http-ok", "8080", "/healthz"]
CMD ["node", "test/standins/main.ts"]
