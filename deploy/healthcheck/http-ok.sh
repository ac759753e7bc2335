#!/bin/sh
# http-ok.sh PORT PATH: succeeds where a GET on loopback is answered with 200. Images based on Alpine bring
# wget for it, those based on Debian bash, and neither brings both.
if command -v wget >/dev/null 2>&1; then
  exec wget -q -T 4 -O /dev/null "http://127.0.0.1:$1$2"
fi
# shellcheck disable=SC2016 # expanded by the inner shell
exec timeout 4 bash -c '
  exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
  printf "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" "$2" >&3
  read -r _ status _ <&3
  # Read to the end, so as not to reset the connection; some servers keep it open all the same.
  timeout 0.3 cat <&3 >/dev/null
  [ "$status" = 200 ]
' http-ok "$1" "$2"
