import { setting, type SettingsOf } from '../core/setting.ts';

const MESH_PROVIDERS = ['tailscale', 'headscale', 'netbird'] as const;

export const meshSettings = {
  apiKey: setting.requiredSecret({
    env: 'MESH_API_KEY',
    meaning: 'Mesh-network API key with the scope "Devices (read)".',
  }),
  provider: setting.choice({
    env: 'MESH_PROVIDER',
    of: MESH_PROVIDERS,
    default: 'tailscale',
    meaning: 'The mesh network’s kind.',
  }),
  apiUrl: setting.string({
    env: 'MESH_API_URL',
    default: '',
    pattern: /^(https?:\/\/\S+)?$/,
    expected: 'an http or https URL',
    example: 'https://headscale.example.org',
    meaning: 'Base URL of the management API; needed for Headscale, else the provider’s own.',
  }),
  network: setting.string({
    env: 'MESH_NETWORK',
    default: '-',
    pattern: /^\S+$/,
    expected: 'a network name without spaces',
    meaning: 'Name of the network (tailnet); "-" is the API key’s own.',
  }),
};

export type MeshSettings = SettingsOf<typeof meshSettings>;
