import { describe } from 'vitest';

import { call, container, docker, inside, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { CHECKS, type Inspected } from './lib/container-checks.ts';
import { type Process, processesOf } from './lib/processes.ts';
import { prove, tries } from './row.ts';

const SERVICES = ['server', 'caddy', 'chromium', 'egress', 'demo-apis', 'web-1', 'db-1', 'demo-site'];

/** What is not held, by name of the check, with why. A miss of any other check is a failure. */
const KNOWN_MISSES: Record<string, string> = {
  '5.15 restarts five times at most':
    '5.15: containers restart without bound (unless-stopped): on a machine that nobody watches, one that comes back late is worth more than one that stays down',
};

async function inspect(service: string): Promise<Inspected> {
  const [inspected] = JSON.parse(await docker('inspect', container(service))) as [Inspected];
  return inspected;
}

describe('containers', () => {
  // A limit that stands in a compose file and that the engine drops protects nobody: what counts is what runs.
  prove('containers', 'Every container has the least rights, by section 5 of the CIS benchmark', async () => {
    const failures: string[] = [];
    const missed = new Set<string>();
    for (const service of SERVICES) {
      const inspected = await inspect(service);
      for (const { name, wrong } of CHECKS) {
        const said = wrong(inspected, service);
        const known = KNOWN_MISSES[name];
        if (said !== undefined && known !== undefined) missed.add(known);
        else if (said !== undefined) failures.push(`${service}: ${name}: ${said}`);
      }
    }

    const options = await docker('info', '--format', '{{json .SecurityOptions}}');
    for (const service of SERVICES) {
      const { AppArmorProfile } = await inspect(service);
      if (options.includes('apparmor') && AppArmorProfile !== 'docker-default')
        failures.push(`${service}: 5.2 AppArmor profile "${AppArmorProfile}"`);
    }
    if (!/apparmor|selinux/.test(options))
      missed.add(
        '5.2, 5.3: neither AppArmor nor SELinux on the machine of this run; the engine’s own profile applies where there is one',
      );
    if (!options.includes('userns'))
      missed.add(
        'root in a container is root of the host to the kernel (the engine has no userns-remap here); it has no capabilities there but those named',
      );
    const swarm = await docker('info', '--format', '{{.Swarm.LocalNodeState}}');
    if (swarm.trim() !== 'inactive') failures.push(`5.1 swarm mode: ${swarm}`);
    missed.add('5.7: sshd runs in the demo’s devices, which are devices; in no container of the appliance');
    missed.add(
      '5.8, 5.14: Caddy publishes 80 and 443 on every interface outside of the demo: they are the service',
    );
    missed.add('5.28: images are named by tag unless NODE_IMAGE, DEBIAN_IMAGE and CADDY_IMAGE name digests');
    return { tries: SERVICES.length * (CHECKS.length + 1) + 1, failures, missed: [...missed] };
  });

  prove(
    'containers',
    'Networks for pairs of services have no way out, and only Caddy is published',
    async () => {
      const INTERNAL = {
        browser: true,
        browsing: true,
        'demo-mesh': true,
        'demo-web': true,
        edge: true,
        outside: false,
        public: false,
        web: false,
      };
      const failures: string[] = [];
      for (const [network, internal] of Object.entries(INTERNAL)) {
        const got = await docker(
          'network',
          'inspect',
          '--format',
          '{{.Internal}}',
          `${stack.project}_${network}`,
        );
        if (got.trim() !== String(internal)) failures.push(`${network}: internal is ${got.trim()}`);
      }
      // The layout without the demo, as it goes to a machine on the internet.
      const layout = JSON.parse(
        await docker('compose', '--file', 'docker-compose.yml', 'config', '--format', 'json'),
      ) as {
        services: Record<string, { ports?: { target: number; protocol: string }[] }>;
      };
      const published = Object.entries(layout.services).flatMap(([service, { ports = [] }]) =>
        ports.map(({ target, protocol }) => `${service} ${target}/${protocol}`),
      );
      if (published.join() !== 'caddy 80/tcp,caddy 443/tcp,caddy 443/udp')
        failures.push(`published: ${published.join()}`);
      return { tries: Object.keys(INTERNAL).length + 1, failures };
    },
  );

  prove(
    'containers',
    'No process is root but the engine’s init and the demo’s sshd, and none can become more',
    async () => {
      const failures: string[] = [];
      let seen = 0;
      for (const service of SERVICES) {
        const device = service === 'web-1' || service === 'db-1';
        for (const process of await processesOf(service)) {
          seen += 1;
          const what = `${service}: ${process.argv.slice(0, 2).join(' ')} (uid ${process.uid})`;
          const init = process.pid === 1 && service === 'server';
          if (process.uid === 0 && !init && !device) failures.push(`${what} is root`);
          if (!process.noNewPrivileges) failures.push(`${what} may gain privileges`);
          if (process.filters === 0) failures.push(`${what} is under no filter of system calls`);
        }
      }
      return { tries: seen, failures, figures: `${seen} processes in ${SERVICES.length} containers` };
    },
  );

  prove('browser', 'Every renderer is sandboxed by Chromium itself, beside its container', async () => {
    const failures: string[] = [];
    let renderers = 0;
    let others: Process[] = [];
    for (let round = 0; round < tries(10, 2); round++) {
      const session = `sandbox-${round}`;
      const opened = await call('browser', { action: 'open', session, url: 'http://demo-site/' });
      if (opened.isError === true) failures.push(`not opened: ${opened.structuredContent.error?.code}`);
      const all = await processesOf('chromium');
      const outer = all.find(({ pid }) => pid === 1) as Process;
      const of = (type: string) => all.filter(({ argv }) => argv.includes(`--type=${type}`));
      for (const { uid, capabilities, filters, userNamespace } of of('renderer')) {
        renderers += 1;
        if (uid === 0) failures.push('a renderer is root');
        if (capabilities !== '0000000000000000') failures.push(`a renderer has capabilities ${capabilities}`);
        if (filters <= outer.filters) failures.push('a renderer has no filter beside the container’s');
        if (userNamespace === outer.userNamespace)
          failures.push('a renderer is in its container’s user namespace');
      }
      if (of('renderer').length === 0) failures.push('no renderer was seen');
      for (const { argv } of all)
        if (
          argv.some((it) =>
            /^--(?:no-sandbox|disable-(?:setuid|seccomp|namespace)[\w-]*sandbox|single-process)/.test(it),
          )
        )
          failures.push(`the sandbox is off: ${argv.join(' ').slice(0, 200)}`);
      others = [...of('gpu-process'), ...of('utility')].filter(
        ({ userNamespace }) => userNamespace === outer.userNamespace,
      );
      await call('browser', { action: 'close', session });
    }
    const names = [
      ...new Set(
        others.map(({ argv }) => argv.find((it) => /^--(?:utility-sub-type|type=gpu)/.test(it)) ?? ''),
      ),
    ];
    return {
      tries: renderers,
      failures,
      ...(names.length > 0 && {
        missed: [
          `Chromium’s own helpers without a sandbox of their own, in their container’s alone: ${names.join(', ')}`,
        ],
      }),
    };
  });

  prove(
    'server',
    'The server keeps no privilege, and its children reach neither its key nor its memory',
    async () => {
      const failures: string[] = [];
      let tried = 0;
      const server = (await processesOf('server')).find(
        ({ argv }) => argv[0]?.endsWith('node') && argv.includes('dist/main.js'),
      );
      if (!server) return { tries: 1, failures: ['the server’s process was not found'] };
      if (server.capabilities !== '0000000000000000') failures.push(`capabilities: ${server.capabilities}`);
      if (server.uid !== 10001) failures.push(`uid: ${server.uid}`);
      const { pid } = server;
      // As the server's own account and in its container: what a command line tool it starts could try.
      const FORBIDDEN: [string, RegExp][] = [
        ['cat /root/.ssh/service-key', /Permission denied/],
        ['echo x >>/root/.ssh/service-key', /Permission denied|Read-only file system/],
        ['rm -f /root/.ssh/service-key', /Permission denied|Read-only|busy/],
        [`cat /proc/${pid}/environ`, /Permission denied/],
        [`cat /proc/${pid}/maps`, /Permission denied/],
        [`dd if=/proc/${pid}/mem bs=1 count=1`, /Permission denied/],
        [`ls /proc/${pid}/fd/`, /Permission denied/],
        [`readlink /proc/${pid}/cwd || { echo Permission denied >&2; false; }`, /Permission denied/],
        ['cat /proc/1/environ', /Permission denied/],
        [`node -e 'process.setuid(0)'`, /EPERM/],
        [`node -e 'process.setgid(0)'`, /EPERM/],
        [`node -e 'process.setgroups([0])'`, /EPERM/],
        ['unshare --user --map-root-user true', /Operation not permitted|unshare failed/],
        ['mount -t tmpfs tmpfs /mnt', /permission denied|must be superuser|not permitted/i],
        ['echo x >/app/dist/main.js', /Read-only file system|Permission denied/],
        ['echo x >/usr/local/bin/agent-browser', /Read-only file system|Permission denied/],
        ['echo x >/config/service.config.yaml', /Read-only file system|Permission denied/],
        ['chown 0:0 /tmp', /not permitted|Permission denied/],
      ];
      for (const [command, refusal] of FORBIDDEN) {
        tried += 1;
        const said = await inside('server', command, '10001').then(
          () => 'it went through',
          (error: Error) => error.message,
        );
        if (!refusal.test(said)) failures.push(`${command}: ${said.slice(0, 200)}`);
      }
      await until(
        'the server is as it was',
        async () => (await processesOf('server')).some((it) => it.pid === pid),
        10,
      );
      return { tries: tried + 2, failures };
    },
  );
});
