import { abortable } from './abortable.ts';
import type { Connection } from './ssh.ts';

/**
 * How a command on the device is found again, so that it can be ended: SSH has no request for it that works
 * everywhere (sshd refuses signals for root logins, and after the end of stdin ssh2 sends none).
 */
export interface Handle {
  /** Stands in the command line of the login shell until the command itself begins. */
  token: string;
  /** The login shell's process id, once it is known. */
  pid: string | undefined;
  /** The name of the login shell's program, once it is known; only Linux tells it. */
  shell: string | undefined;
}

/** Programs that read `echo $$ >&2` as POSIX has it. Not `rbash`, which may not redirect; fish and csh read other things. */
const POSIX_SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'ksh93', 'mksh', 'yash']);

/** Whether the login shell that told of itself is one that `announcement` may take for a POSIX one. */
export function isPosix({ shell }: Handle): boolean {
  return shell !== undefined && POSIX_SHELLS.has(shell);
}

/**
 * The words before a command that make its login shell's process id known, as `TOKEN PID` on stderr. The command
 * runs in the login shell itself.
 * @param posix whether the login shell is known to be a POSIX one: then it tells of itself. Else a child of it tells
 *   who its parent is, and what program that runs, in words that every shell reads; it costs a process.
 */
export function announcement({ token }: Handle, posix: boolean): string {
  if (posix) return `echo ${token} $$ >&2; `;
  return `sh -c '{ read -r name </proc/$PPID/comm; } 2>/dev/null; echo ${token} $PPID $name >&2' </dev/null; `;
}

/** Takes the announcement out of a command's stderr and passes on the rest. */
export function createAnnouncementFilter(
  handle: Handle,
  pass: (chunk: Buffer) => void,
): {
  add(chunk: Buffer): void;
  /** Passes on what was held back. To be called at the end of the stream. */
  flush(): void;
} {
  /** The announcement is among the first things written; no more than this is held back for it. */
  const longest = 64 * 1024;
  let held: Buffer | undefined = Buffer.alloc(0);
  const flush = () => {
    const rest = held;
    held = undefined;
    if (rest && rest.length > 0) pass(rest);
  };
  return {
    add(chunk) {
      if (!held) return pass(chunk);
      held = Buffer.concat([held, chunk]);
      const found = announced(held, handle.token);
      if (found) {
        handle.pid = found.pid;
        handle.shell = found.shell;
        held = Buffer.concat([held.subarray(0, found.start), held.subarray(found.end)]);
        flush();
      } else if (held.length > longest) {
        flush();
      }
    },
    flush,
  };
}

/** Where the announcement stands, once it is whole, and what it says. */
function announced(bytes: Buffer, token: string) {
  for (let start = bytes.indexOf(token); start !== -1; start = bytes.indexOf(token, start + 1)) {
    const stop = bytes.indexOf('\n', start);
    if (stop === -1) return undefined;
    // A shell that traces its commands writes the words before, without a number.
    const said = /^ (\d+)(?: (\S+))?$/.exec(bytes.toString('latin1', start + token.length, stop));
    if (said) return { start, end: stop + 1, pid: said[1], shell: said[2] };
  }
  return undefined;
}

/**
 * Kills a command and all that descends from it or shares its session, until nothing of it is left.
 * Processes that moved to a session of their own and to another parent (daemons) are left alone.
 * @returns false where something is left, or nobody can tell
 * @throws the signal's reason, and what starting a command throws
 */
export async function endCommand(
  connection: Connection,
  { token, pid }: Pick<Handle, 'token' | 'pid'>,
  signal: AbortSignal,
): Promise<boolean> {
  let out = '';
  const take = (chunk: Buffer) => {
    out = (out + chunk.toString('latin1')).slice(-256);
  };
  // From stdin, so that no login shell has to read its quotes; and no exec, which a restricted shell refuses.
  const remote = await connection.start('sh -s', script(token, pid), take, () => {});
  try {
    await abortable(remote.ended, signal);
  } finally {
    // A login that hangs would otherwise keep the channel.
    remote.close();
  }
  return /^left:\s*$/m.test(out);
}

function script(token: string, pid = ''): string {
  // A pattern that does not match itself, since the command line of grep holds it.
  const pattern = `${token.slice(0, -1)}[${token.slice(-1)}]`;
  return `
roots=${pid}
if [ -z "$roots" ]; then
  roots=$(grep -l '${pattern}' /proc/[0-9]*/cmdline 2>/dev/null | sed 's|[^0-9]||g')
fi
roots=" $(echo $roots) "
# pid, parent, group, session, state
table() {
  if [ -r "/proc/$$/stat" ]; then
    for file in /proc/[0-9]*/stat; do
      { IFS= read -r line <"$file"; } 2>/dev/null || continue
      id=\${file#/proc/}
      set -f; set -- \${line##*) }; set +f
      echo "\${id%/stat} $2 $3 $4 $1"
    done
  else
    ps -A -o pid= -o ppid= -o pgid= -o state= | while read -r id parent group state; do
      echo "$id $parent $group $group $state"
    done
  fi
}
victims() {
  known=$roots
  left=
  processes=$(table)
  more=yes
  while [ $more = yes ]; do
    more=no
    while read -r id parent group session state; do
      case $left in *" $id "*) continue ;; esac
      case $state in Z*|X*) continue ;; esac
      [ "$id" = $$ ] && continue
      case $roots in
        *" $id "*|*" $group "*|*" $session "*) ;;
        *) case $known in *" $parent "*) ;; *) continue ;; esac ;;
      esac
      known="$known$id "
      left="$left $id "
      more=yes
    done <<END
$processes
END
  done
}
tries=0
while victims; [ -n "$left" ] && [ $tries -lt 20 ]; do
  kill -9 $left 2>/dev/null
  tries=$((tries + 1))
  sleep 0.05 2>/dev/null || sleep 1
done
[ "$roots" = "  " ] && left=unknown
echo left: $left
`;
}
