import { container, docker } from '../../support/stack.ts';

/** A process in a container, as the kernel tells of it. */
export interface Process {
  pid: number;
  uid: number;
  /** Effective capabilities, as 16 hexadecimal digits. */
  capabilities: string;
  /** How many filters of system calls it is under, those of the engine included. */
  filters: number;
  noNewPrivileges: boolean;
  /** Inode of its user namespace. */
  userNamespace: string;
  argv: string[];
}

/** Any image of the project with a shell; what it looks at is the other container. */
const IMAGE = 'remote-tool-server/chromium:0.1.0';
/** Lists them for `parseProcesses`. */
export const LOOK = `cd /proc && for p in [0-9]*; do
  [ "$p" != $$ ] && argv=$(base64 -w0 <$p/cmdline 2>/dev/null) && [ -n "$argv" ] || continue
  [ "$(awk '/^PPid/{print $2}' $p/status)" != $$ ] || continue
  echo "$p $(awk '/^Uid/{u=$3} /^CapEff/{c=$2} /^Seccomp_filters/{f=$2} /^NoNewPrivs/{n=$2} END{print u, c, f, n}' $p/status) $(readlink $p/ns/user) $argv"
done`;

/** A command with sight of the processes of a service's container, and the right to look into them. */
export const besideProcesses = (service: string, command: string): Promise<string> =>
  docker(
    ...['run', '--rm', '--network', 'none', '--read-only', '--user', '0', '--entrypoint', 'sh'],
    ...['--cap-drop', 'ALL', '--cap-add', 'SYS_PTRACE', '--cap-add', 'DAC_READ_SEARCH'],
    ...['--pid', `container:${container(service)}`, IMAGE, '-c', command],
  );

/** Every process in a service's container, but those that look. */
export const processesOf = async (service: string): Promise<Process[]> =>
  parseProcesses(await besideProcesses(service, LOOK));

export function parseProcesses(text: string): Process[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, uid, capabilities = '', filters, nnp, userNamespace = '', argv = ''] = line.split(' ');
      return {
        pid: Number(pid),
        uid: Number(uid),
        capabilities,
        filters: Number(filters),
        noNewPrivileges: nnp === '1',
        userNamespace,
        // Chromium writes its renderers' arguments anew, with spaces between.
        argv: Buffer.from(argv, 'base64').toString().split(/[\0 ]/).filter(Boolean),
      };
    });
}
