import { setting, type SettingsOf } from '../../core/setting.ts';

export const sshSettings = {
  blockedCommands: setting.list({
    env: 'SSH_BLOCKED_COMMANDS',
    reloadable: true,
    yaml: 'ssh.blocked_commands',
    default: [],
    example: 'rm -rf,dd',
    meaning: 'Commands or substrings that ssh_exec refuses.',
  }),
  allowedDirs: setting.list({
    env: 'SSH_ALLOWED_DIRS',
    reloadable: true,
    yaml: 'ssh.allowed_dirs',
    default: [],
    example: '/srv,/home/me/projects',
    pattern: /^\//,
    expected: 'a comma-separated list of absolute directories',
    meaning: 'Directory prefixes that ssh_exec is limited to; empty means no restriction.',
  }),
  dryRun: setting.boolean({
    env: 'DRY_RUN',
    reloadable: true,
    yaml: 'dry_run',
    default: false,
    meaning: 'When true, ssh_exec logs commands without executing them.',
  }),
  defaultUser: setting.string({
    env: 'SSH_DEFAULT_USER',
    default: 'root',
    pattern: /^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}$/,
    expected: 'a user name',
    meaning: 'The account on the device when a call names none; an unprivileged one is the real boundary.',
  }),
  port: setting.integer({
    env: 'SSH_PORT',
    default: 22,
    min: 1,
    max: 65535,
    meaning: 'Port of the SSH server on the devices.',
  }),
  keyPath: setting.string({
    env: 'SSH_KEY_PATH',
    default: '/root/.ssh/service-key',
    meaning: 'Private key for devices that do not accept the SSH method "none"; permissions 600.',
  }),
  knownHostsPath: setting.string({
    env: 'SSH_KNOWN_HOSTS_PATH',
    default: './known_hosts',
    meaning: 'Where host keys are kept after the first use; a changed key is refused.',
  }),
  connectTimeoutSeconds: setting.integer({
    env: 'SSH_CONNECT_TIMEOUT_SECONDS',
    default: 10,
    min: 1,
    max: 120,
    meaning: 'Seconds to wait for a device to accept and authenticate a connection.',
  }),
  maxJobs: setting.integer({
    env: 'SSH_MAX_JOBS',
    reloadable: true,
    default: 32,
    min: 1,
    max: 256,
    meaning: 'Commands of ssh_exec that may run as jobs at a time.',
  }),
};

export type SshSettings = SettingsOf<typeof sshSettings>;
