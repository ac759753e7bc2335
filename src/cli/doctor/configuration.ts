import { ConfigError, loadConfig, type Loaded } from '../../config/load.ts';
import { messageOf } from '../../core/errors.ts';
import { type Finding, fail, ok, warn } from './report.ts';

const NAME = 'configuration';
const WHERE = 'Correct it in .env or the YAML file, then restart the server.';

/** Everything that is wrong or odd with the configuration; `loaded` where the server would start with it. */
export function checkConfiguration(
  env: Readonly<Record<string, string | undefined>>,
  readYaml: () => { name: string; text: string } | undefined,
): { loaded?: Loaded; findings: Finding[] } {
  let yaml: { name: string; text: string } | undefined;
  try {
    yaml = readYaml();
  } catch (error) {
    const mend = 'Make the file at SERVICE_CONFIG_PATH readable for the server, or remove it.';
    return { findings: [fail(NAME, `The YAML file cannot be read: ${messageOf(error)}`, mend)] };
  }
  try {
    const loaded = loadConfig(env, yaml?.text, yaml?.name);
    // Those on the secret have a line of their own.
    const odd = loaded.warnings.filter((warning) => !warning.startsWith('MCP_SECRET '));
    const { config } = loaded;
    const dryRun = config.ssh.dryRun ? ', dry run on: ssh_exec runs nothing' : '';
    const from = yaml === undefined ? 'environment, no YAML file' : `environment and ${yaml.name}`;
    return {
      loaded,
      findings: [ok(NAME, `complete (${from})${dryRun}`), ...odd.map((text) => warn(NAME, text, WHERE))],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { findings: error.faults.map((fault) => fail(NAME, fault, WHERE)) };
  }
}

const SHORT = 32;
const FEW_BITS = 96;
const UNSAFE_IN_URL = /[^A-Za-z0-9._~-]/;
const SPOKEN = /change|secret|passw|example|token|admin|test|1234|qwert/i;
const RENEW =
  'Make a new one: openssl rand -hex 32. MCP_SECRET_PREVIOUS keeps clients with the old one working meanwhile.';

/** How hard the secret is to guess; an upper bound, since nobody can tell from a text how it was chosen. */
export function checkSecret(secret: string): Finding {
  const name = 'secret';
  const weak: string[] = [];
  if (secret.length < SHORT) weak.push(`has ${secret.length} characters, fewer than ${SHORT}`);
  const bits = secret.length * Math.log2(new Set(secret).size);
  if (bits < FEW_BITS) weak.push(`holds at most ${Math.floor(bits)} bits of chance`);
  if (SPOKEN.test(secret)) weak.push('holds a word or a row of keys that guessing begins with');
  if (UNSAFE_IN_URL.test(secret)) {
    weak.push('holds characters that must be percent-encoded in a URL, which some clients forget');
  }
  return weak.length === 0
    ? ok(name, `${secret.length} characters, no weakness seen`)
    : warn(name, `MCP_SECRET ${weak.join('; it ')}`, RENEW);
}
