# Stands in for caddy:2: the context holds the unpacked Debian package of Caddy.
ARG DEBIAN_IMAGE=debian:trixie-slim
FROM ${DEBIAN_IMAGE}
COPY caddy/usr/bin/caddy /usr/bin/caddy
RUN mkdir -p /config/caddy /data/caddy /etc/caddy && caddy version
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
WORKDIR /srv
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
