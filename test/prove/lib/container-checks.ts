/** The part of `docker inspect` that the checks read. */
export interface Inspected {
  Name: string;
  AppArmorProfile: string;
  Config: { Env: string[] | null; Labels: Record<string, string> };
  State: { Health?: { Status: string } };
  Mounts: { Type: string; Source: string; Destination: string; RW: boolean; Propagation: string }[];
  NetworkSettings: { Networks: Record<string, unknown> };
  HostConfig: {
    Privileged: boolean;
    ReadonlyRootfs: boolean;
    PublishAllPorts: boolean;
    OomKillDisable: boolean | null;
    CapAdd: string[] | null;
    CapDrop: string[] | null;
    SecurityOpt: string[] | null;
    Devices: unknown[] | null;
    DeviceCgroupRules: unknown[] | null;
    DeviceRequests: unknown[] | null;
    NetworkMode: string;
    PidMode: string;
    IpcMode: string;
    UTSMode: string;
    UsernsMode: string;
    CgroupParent: string;
    Memory: number;
    NanoCpus: number;
    CpuShares: number;
    PidsLimit: number | null;
    PortBindings: Record<string, { HostIp: string; HostPort: string }[]> | null;
    RestartPolicy: { Name: string; MaximumRetryCount: number };
    Ulimits: unknown[] | null;
    LogConfig: { Type: string; Config: Record<string, string> };
  };
}

/** One thing a container may be wrong in; `wrong` says in which way, undefined where it is right. */
export interface Check {
  /** As the benchmark for containers of the Center for Internet Security counts, where it has it. */
  name: string;
  wrong: (container: Inspected, service: string) => string | undefined;
}

/** What each service is given beyond nothing; anything else is a fault. */
const CAPABILITIES: Record<string, string[]> = {
  server: ['KILL', 'SETGID', 'SETUID'],
  caddy: ['NET_BIND_SERVICE'],
  'demo-site': ['NET_BIND_SERVICE'],
  'web-1': ['CHOWN', 'SETGID', 'SETUID', 'SYS_CHROOT'],
  'db-1': ['CHOWN', 'SETGID', 'SETUID', 'SYS_CHROOT'],
};
const FROM_HOST: Record<string, string[]> = {
  server: ['/config', '/root/.ssh/service-key'],
  'web-1': ['/demo-key.pub'],
};
const NETWORKS: Record<string, string[]> = {
  server: ['browser', 'demo-mesh', 'demo-web', 'edge', 'outside'],
  caddy: ['edge', 'public'],
  chromium: ['browser', 'browsing'],
  egress: ['browsing', 'demo-web', 'web'],
  'demo-apis': ['demo-mesh'],
  'demo-site': ['demo-web'],
  'web-1': ['demo-mesh'],
  'db-1': ['demo-mesh'],
};
/** Where a machine keeps what nobody in a container has any business with. */
const OF_THE_MACHINE = /^\/(?:boot|dev|etc|lib|proc|sys|usr|var\/run|run|root)?(?:\/|$)/;

const list = (values: readonly unknown[]): string | undefined =>
  values.length === 0 ? undefined : JSON.stringify(values);
const unless = (right: boolean, said: unknown): string | undefined =>
  right ? undefined : JSON.stringify(said);
const same = (got: readonly string[], wanted: readonly string[] = []): string | undefined =>
  unless(JSON.stringify([...got].sort()) === JSON.stringify(wanted), got);

export const CHECKS: readonly Check[] = [
  {
    name: '5.4 drops every capability but those named',
    wrong: ({ HostConfig }, service) =>
      same(
        (HostConfig.CapAdd ?? []).map((name) => name.replace(/^CAP_/, '')),
        CAPABILITIES[service],
      ) ?? same(HostConfig.CapDrop ?? [], ['ALL']),
  },
  { name: '5.5 is not privileged', wrong: ({ HostConfig }) => unless(!HostConfig.Privileged, true) },
  {
    name: '5.6 mounts nothing of the machine',
    wrong: ({ Mounts }) =>
      list(
        Mounts.filter(({ Type, Source }) => Type === 'bind' && OF_THE_MACHINE.test(Source)).map(
          ({ Source }) => Source,
        ),
      ),
  },
  {
    name: 'mounts from the host only what is named, and read-only',
    wrong: ({ Mounts }, service) => {
      const binds = Mounts.filter(({ Type }) => Type === 'bind');
      return (
        same(
          binds.map(({ Destination }) => Destination),
          FROM_HOST[service],
        ) ?? list(binds.filter(({ RW }) => RW).map(({ Destination }) => Destination))
      );
    },
  },
  {
    name: '5.9 publishes no port but Caddy’s',
    wrong: ({ HostConfig }, service) =>
      service === 'caddy'
        ? unless(Object.keys(HostConfig.PortBindings ?? {}).join() === '443/tcp', HostConfig.PortBindings)
        : (list(Object.keys(HostConfig.PortBindings ?? {})) ?? unless(!HostConfig.PublishAllPorts, true)),
  },
  {
    name: '5.10 has a network of its own',
    wrong: ({ HostConfig }) =>
      unless(!/^(?:host|container:)/.test(HostConfig.NetworkMode), HostConfig.NetworkMode),
  },
  { name: '5.11 has its memory limited', wrong: ({ HostConfig }) => unless(HostConfig.Memory > 0, 0) },
  {
    name: '5.12 has its share of the processor limited',
    wrong: ({ HostConfig }) => unless(HostConfig.NanoCpus > 0 || HostConfig.CpuShares > 0, 0),
  },
  {
    name: '5.13 has a read-only root file system',
    wrong: ({ HostConfig }) => unless(HostConfig.ReadonlyRootfs, false),
  },
  {
    name: '5.14 publishes on a named interface',
    wrong: ({ HostConfig }) =>
      list(
        Object.values(HostConfig.PortBindings ?? {})
          .flat()
          .filter(({ HostIp }) => HostIp === '' || HostIp === '0.0.0.0' || HostIp === '::'),
      ),
  },
  {
    name: '5.15 restarts five times at most',
    wrong: ({ HostConfig: { RestartPolicy: policy } }) =>
      unless(
        policy.Name === 'no' || (policy.Name === 'on-failure' && policy.MaximumRetryCount <= 5),
        policy.Name,
      ),
  },
  {
    name: '5.16 sees no processes but its own',
    wrong: ({ HostConfig }) => unless(HostConfig.PidMode === '', HostConfig.PidMode),
  },
  {
    name: '5.17 shares no memory of the host',
    wrong: ({ HostConfig }) => unless(HostConfig.IpcMode === 'private', HostConfig.IpcMode),
  },
  {
    name: '5.18 is given no device',
    wrong: ({ HostConfig }) =>
      list([
        ...(HostConfig.Devices ?? []),
        ...(HostConfig.DeviceCgroupRules ?? []),
        ...(HostConfig.DeviceRequests ?? []),
      ]),
  },
  {
    name: '5.19 raises no limit of the engine’s',
    wrong: ({ HostConfig }) => list(HostConfig.Ulimits ?? []),
  },
  {
    name: '5.20 passes on no mounts',
    wrong: ({ Mounts }) => list(Mounts.filter(({ Propagation }) => /shared/.test(Propagation))),
  },
  {
    name: '5.21 has a host name of its own',
    wrong: ({ HostConfig }) => unless(HostConfig.UTSMode !== 'host', 'host'),
  },
  {
    name: '5.22 has a filter of system calls',
    wrong: ({ HostConfig }) =>
      list((HostConfig.SecurityOpt ?? []).filter((it) => /^seccomp[=:]unconfined/.test(it))),
  },
  {
    name: '5.25 is in the engine’s own group of limits',
    wrong: ({ HostConfig }) => unless(HostConfig.CgroupParent === '', HostConfig.CgroupParent),
  },
  {
    name: '5.26 can gain no privileges',
    wrong: ({ HostConfig }) =>
      unless(
        (HostConfig.SecurityOpt ?? []).some((it) => /^no-new-privileges(?:[:=]true)?$/.test(it)),
        HostConfig.SecurityOpt,
      ),
  },
  {
    name: '5.27 is looked at, and well',
    wrong: ({ State }) =>
      unless(State.Health?.Status === 'healthy', State.Health?.Status ?? 'no health check'),
  },
  {
    name: '5.29 has its number of processes limited',
    wrong: ({ HostConfig }) => unless((HostConfig.PidsLimit ?? 0) > 0, HostConfig.PidsLimit),
  },
  {
    name: '5.30 is on its own networks, and not on the engine’s default one',
    wrong: ({ NetworkSettings, Config }, service) =>
      same(
        Object.keys(NetworkSettings.Networks).map((name) =>
          name.replace(`${Config.Labels['com.docker.compose.project'] ?? ''}_`, ''),
        ),
        NETWORKS[service],
      ),
  },
  {
    name: '5.31 does not share the host’s users by choice',
    wrong: ({ HostConfig }) => unless(HostConfig.UsernsMode !== 'host', 'host'),
  },
  {
    name: '5.32 cannot reach the engine',
    wrong: ({ Mounts }) =>
      list(Mounts.filter(({ Source }) => /(?:docker|containerd|podman)[^/]*\.sock/.test(Source))),
  },
  {
    name: 'is ended where memory runs out, rather than the machine',
    wrong: ({ HostConfig }) => unless(HostConfig.OomKillDisable !== true, true),
  },
  {
    name: 'has its log bounded',
    wrong: ({ HostConfig: { LogConfig: log } }) =>
      unless(log.Config['max-size'] !== undefined && log.Config['max-file'] !== undefined, log),
  },
];
