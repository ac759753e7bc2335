#!/bin/sh
# Takes out of a fresh Debian tree what the official "slim" images leave out too: caches, manuals, locales.
set -eu
root=$1
chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/man/* "$root"/usr/share/info/* \
  "$root"/usr/share/locale/* "$root"/usr/share/lintian/*
find "$root/usr/share/doc" -type f ! -name copyright -delete
printf 'path-exclude /usr/share/%s/*\n' man info locale lintian >"$root/etc/dpkg/dpkg.cfg.d/docker"
printf 'path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\n' >>"$root/etc/dpkg/dpkg.cfg.d/docker"
