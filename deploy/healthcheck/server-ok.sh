#!/bin/bash
# server-ok.sh: succeeds where the server of this container says that it is well. `remote-tool-server health` asks the
# same, but starts Node for it, and every six seconds that is a fiftieth of a core. Builtins alone: nothing is started,
# and the secret is in no process list.
if ! exec 3<>"/dev/tcp/127.0.0.1/${PORT:-3000}"; then exit 1; fi
printf 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' \
  "${MCP_SECRET-}" >&3
# To the end of the connection, which is what makes `read` return; what it has read is there all the same.
IFS= read -r -d '' -t 4 answer <&3
case $answer in
  'HTTP/1.1 200 '*$'\r\n\r\n{"status":"ok"'*) exit 0 ;;
esac
printf '%s\n' "${answer%%$'\r'*}"
exit 1
