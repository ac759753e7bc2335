import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';

/**
 * What was found at the SSH key's path. Only `node:` modules are imported here: this runs while the process
 * may still be root, before anything else is loaded.
 */
export type KeyFile =
  /** `permissions` in octal, as found; wider ones than 600 have been narrowed to that. */
  | { state: 'read'; text: string; permissions: string }
  | { state: 'missing'; path: string }
  | { state: 'fault'; message: string };

/**
 * Reads the key file, following no symlink, and sets its permissions to 600 where they are wider.
 * As root without capabilities a file of another owner cannot be read, so its owner's id is taken on meanwhile.
 */
export function readKeyFile(path: string): KeyFile {
  const fault = (why: string): KeyFile => ({ state: 'fault', message: `SSH key ${path} ${why}` });
  let owner: number;
  try {
    const entry = lstatSync(path);
    if (entry.isSymbolicLink()) {
      return fault(
        'is a symbolic link; set SSH_KEY_PATH to the file itself, so that nobody can point it elsewhere.',
      );
    }
    if (entry.isDirectory()) {
      return fault(
        'is a directory. A container engine makes one when the file to mount is missing: remove it, put the key there and start again.',
      );
    }
    if (!entry.isFile()) return fault('is not a regular file.');
    owner = entry.uid;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { state: 'missing', path } : fault(`cannot be looked at (${code}).`);
  }

  const takeOn = process.geteuid?.() === 0 && owner !== 0;
  try {
    if (takeOn) process.seteuid?.(owner);
    return readOpened(path, fault);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fault(`cannot be read (${code}). Make it readable by its owner alone: chmod 600.`);
  } finally {
    if (takeOn) process.seteuid?.(0);
  }
}

function readOpened(path: string, fault: (why: string) => KeyFile): KeyFile {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mode } = fstatSync(file);
    const permissions = (mode & 0o777).toString(8);
    if ((mode & 0o077) !== 0) {
      try {
        fchmodSync(file, 0o600);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return fault(
          `has permissions ${permissions}, so others can read it, and they cannot be changed here (${code}). Run chmod 600 on the host's file.`,
        );
      }
    }
    return { state: 'read', text: readFileSync(file, 'utf8'), permissions };
  } finally {
    closeSync(file);
  }
}

/**
 * Gives up root for good.
 * @param runAs `uid:gid`, or undefined to stay who we are
 * @returns what was done, or a warning that nothing could be
 * @throws Error when the drop was asked for and did not take
 */
export function dropPrivileges(runAs: string | undefined): { warning?: string } {
  if (process.getuid?.() !== 0) return {};
  if (runAs === undefined || runAs === '') {
    return { warning: 'The server runs as root. Set RUN_AS=uid:gid, or start it as an ordinary user.' };
  }
  const match = /^([1-9]\d*):([1-9]\d*)$/.exec(runAs);
  if (!match) throw new Error('RUN_AS: expected uid:gid, both numbers above 0');
  const [uid, gid] = [Number(match[1]), Number(match[2])];
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid) {
    throw new Error('RUN_AS: the process could not give up root');
  }
  return {};
}
