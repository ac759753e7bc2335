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
};

export type AuditSettings = SettingsOf<typeof auditSettings>;
