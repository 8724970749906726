// What is in deploy/: it fits the command line and the versions of this release.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { program } from '../../cli/program';
import { isOwnData } from '../../exec/own-folder';
import { isWithin } from '../../exec/real-path';
import { packageRoot } from '../../system/package-root';
import { MALLOC } from '../../workers/process/worker-process';

const DEPLOY = join(packageRoot(), 'deploy');
const read = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8');
const units = readdirSync(join(DEPLOY, 'systemd')).filter((name) => name.endsWith('.service'));
const WITHOUT_SUDO = 'holdfast-host-without-sudo.conf';

interface Compose {
  services: Record<string, { command?: string[]; ports?: string[]; read_only?: boolean }>;
}
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const dockerfile = read('container', 'Dockerfile');

const commands: [string, string[]][] = [
  ...units.map((unit): [string, string[]] => [
    unit,
    (/^ExecStart=\/usr\/bin\/holdfast (.*)$/m.exec(read('systemd', unit))?.[1] ?? '').split(' '),
  ]),
  ['the container', JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '[]') as string[]],
  ...Object.entries(compose.services)
    .filter(([, { command }]) => command !== undefined)
    .map(([name, { command = [] }]): [string, string[]] => [name, command]),
];

test.each(commands)('%s runs a command with options that the command line has', async (_name, words) => {
  const named = words.filter((word) => word.startsWith('--'));
  let command = await program();
  const options: (string | undefined)[] = [];
  for (const word of words) {
    const below = command.commands.find((one) => one.name() === word);
    command = below ?? command;
    // Those of `holdfast host` hold for `holdfast host serve`.
    options.push(...(below?.options ?? []).map(({ long }) => long));
  }
  expect(command.name()).toMatch(/^(?:worker|serve)$/);
  expect(named.length).toBeGreaterThan(0);
  expect(options).toEqual(expect.arrayContaining(named));
});

test('the container has the Node that is tested, is not root, and needs no writable root', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  expect([...dockerfile.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version)).toEqual([
    devDependencies.node,
    devDependencies.node,
  ]);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(Object.values(compose.services).map((service) => service.read_only)).not.toContain(undefined);
});

test('the container has an init that reaps, and it gets the signals', () => {
  expect(dockerfile).toMatch(/apt-get install .* tini /);
  expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "holdfast"\]$/m);
});

test('the compose file publishes ports on this machine only', () => {
  const published = Object.values(compose.services).flatMap(({ ports }) => ports ?? []);
  expect(published).toEqual(['127.0.0.1:7280:7280']);
});

test('the shells of a host begin outside of what Holdfast keeps in its data folder', () => {
  const unit = read('systemd', 'holdfast-host@.service');
  const dataDir = /^Environment=HOLDFAST_DATA=(.*)$/m.exec(unit)?.[1] ?? '';
  const root = / --root (\S+)/.exec(unit)?.[1] ?? '';
  expect(isOwnData(dataDir, dataDir)).toBe(true);
  expect(isOwnData(dataDir, root)).toBe(false);
  expect(isWithin(root, dataDir)).toBe(true);
});

test('a host’s shells outlive its service', () => {
  expect(read('systemd', 'holdfast-host@.service')).toMatch(/^KillMode=process$/m);
});

/** Directives by name; those that are given several times are joined. */
const directives = (text: string): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.*)$/gm))
    found[name] = [found[name], value].filter(Boolean).join(' ');
  return found;
};

test.each(['holdfast-worker.service', 'holdfast-gateway.service'])(
  '%s may write its state and nothing else, gets no more rights, and reaches no kernel settings and no other processes',
  (unit) => {
    expect(directives(read('systemd', unit))).toMatchObject({
      ...{ NoNewPrivileges: 'yes', CapabilityBoundingSet: '', UMask: '0077', RestrictSUIDSGID: 'yes' },
      ...{ ProtectSystem: 'strict', ProtectHome: 'yes', PrivateTmp: 'yes', PrivateDevices: 'yes' },
      ...{ ProtectKernelTunables: 'yes', ProtectKernelModules: 'yes', ProtectKernelLogs: 'yes' },
      ...{ ProtectControlGroups: 'yes', ProtectClock: 'yes', ProtectProc: 'invisible', PrivateUsers: 'yes' },
      ...{ RestrictNamespaces: 'yes', SystemCallFilter: '@system-service ~@privileged @resources' },
    });
  },
);

test.each([
  ['with sudo', read('systemd', 'holdfast-host@.service'), ['NoNewPrivileges', 'SystemCallFilter']],
  ['without it', read('systemd', WITHOUT_SUDO), []],
])(
  'a host’s shells %s keep terminals, namespaces, debuggers and what they share with others',
  (_how, text, sudo) => {
    const given = Object.keys(directives(text));
    const breaking = [
      ...['PrivateDevices', 'PrivateTmp', 'ProtectHome', 'RestrictNamespaces', 'RemoveIPC', 'UMask'],
      // A sandbox mounts /proc anew, which the kernel refuses where a part of it is hidden.
      ...['ProtectKernelTunables', 'ProtectKernelLogs', 'ProtectProc', 'ProcSubset'],
      ...['LockPersonality', 'MemoryDenyWriteExecute', 'SystemCallArchitectures', 'RestrictAddressFamilies'],
      ...sudo,
    ];
    expect(given.filter((name) => breaking.includes(name))).toEqual([]);
    expect(directives(text).SystemCallFilter ?? '').not.toMatch(/@mount|@debug|@privileged|@system-service/);
  },
);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const notChecked = hasSystemd ? '' : ' (not checked: no systemd-analyze: install systemd)';
const withSystemd = hasSystemd ? test : test.skip;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-units-'));
  for (const unit of units)
    writeFileSync(
      join(folder, unit.replace('@', '@one')),
      read('systemd', unit)
        // What it runs and reads is not installed here.
        .replaceAll('/usr/bin/holdfast', '/bin/true')
        .replace(/^User=.*$/m, 'User=root'),
    );
  const host = readFileSync(join(folder, 'holdfast-host@one.service'), 'utf8');
  const more = read('systemd', WITHOUT_SUDO).replace(/^#.*\n|^\[Service\]\n/gm, '');
  writeFileSync(join(folder, 'holdfast-confined@one.service'), host.replace(/^\[Install\]/m, `${more}\n$&`));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

withSystemd(`systemd finds no fault in the units${notChecked}`, () => {
  const faults = readdirSync(folder).map(
    (name) =>
      spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, name)], { encoding: 'utf8' }).stderr,
  );
  expect(faults.length).toBe(units.length + 1);
  const own = faults
    .join('')
    .split('\n')
    .filter((line) => line.includes('holdfast'));
  expect(own).toEqual([]);
});

withSystemd(`docs/deploying.md says how exposed systemd finds each unit${notChecked}`, () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'deploying.md'), 'utf8');
  const said = [...page.matchAll(/^\| `holdfast-([\w-]+@?)\.(?:service|conf)` +\| ([\d.]+) /gm)].map(
    ([, unit = '', exposed]) => [unit, Number(exposed)] as const,
  );
  expect(said.map(([unit]) => unit)).toEqual(['worker', 'gateway', 'host@', 'host-without-sudo']);
  for (const [unit, exposed] of said) {
    const file = { 'host@': 'host@one', 'host-without-sudo': 'confined@one' }[unit] ?? unit;
    // As its own user: as root it would be worse.
    const path = join(folder, `holdfast-${file}.service`);
    writeFileSync(path, readFileSync(path, 'utf8').replace('User=root', 'User=holdfast'));
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', path], {
      encoding: 'utf8',
    });
    const found = Number(/exposure level for .*: ([\d.]+)/.exec(stdout)?.[1]);
    // Each release of systemd weighs a little differently.
    expect([unit, Math.abs(found - exposed) <= 0.5]).toEqual([unit, true]);
  }
});

test.each([
  ['the service', read('systemd', 'holdfast-worker.service')],
  ['the container', dockerfile],
])('%s keeps as little freed memory as a worker that `up` starts', (_name, text) => {
  const found = [...text.matchAll(/\b(MALLOC_\w+)=(\S+)/g)];
  const settings = Object.fromEntries(found.map(([, name = '', value = '']) => [name, value]));
  expect(settings).toEqual(MALLOC);
});
