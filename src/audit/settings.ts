import { setting, type SettingsOf } from '../core/setting.ts';

export const auditSettings = {
  enabled: setting.boolean({
    env: 'AUDIT_ENABLED',
    yaml: 'audit.enabled',
    default: true,
    meaning: 'Enables audit logging; when it is on and a record cannot be written, calls are refused.',
  }),
  path: setting.string({
    env: 'AUDIT_LOG_PATH',
    yaml: 'audit.log_path',
    default: './service-audit.log',
    meaning: 'Audit log file (JSON lines, append only).',
  }),
  maxBytes: setting.integer({
    env: 'AUDIT_MAX_BYTES',
    yaml: 'audit.max_bytes',
    default: 64 * 1024 * 1024,
    min: 64 * 1024,
    max: 1024 ** 4,
    meaning: 'Size at which the audit log is rotated to the next numbered file beside it.',
  }),
  keepFiles: setting.integer({
    env: 'AUDIT_KEEP_FILES',
    yaml: 'audit.keep_files',
    default: 10,
    min: 0,
    max: 100_000,
    meaning: 'Rotated audit log files that are kept; the oldest ones beyond are removed. 0 keeps all.',
  }),
};

export type AuditSettings = SettingsOf<typeof auditSettings>;
