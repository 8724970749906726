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
const units = readdirSync(join(DEPLOY, 'systemd'));

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

test.each(commands)('%s runs a command with options that the command line has', (_name, words) => {
  const named = words.filter((word) => word.startsWith('--'));
  let command = program();
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

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
(hasSystemd ? test : test.skip)('systemd finds no fault in the units (needs systemd-analyze)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-units-'));
  const faults = units.map((unit) => {
    const file = join(folder, unit.replace('@', '@one'));
    // What it runs and reads is not installed here.
    writeFileSync(
      file,
      read('systemd', unit)
        .replaceAll('/usr/bin/holdfast', '/bin/true')
        .replace(/^User=.*$/m, 'User=root'),
    );
    return spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' }).stderr;
  });
  rmSync(folder, { recursive: true, force: true });
  expect(
    faults
      .join('')
      .split('\n')
      .filter((line) => line.includes('holdfast')),
  ).toEqual([]);
});

test.each([
  ['the service', read('systemd', 'holdfast-worker.service')],
  ['the container', dockerfile],
])('%s keeps as little freed memory as a worker that `up` starts', (_name, text) => {
  const found = [...text.matchAll(/\b(MALLOC_\w+)=(\S+)/g)];
  const settings = Object.fromEntries(found.map(([, name = '', value = '']) => [name, value]));
  expect(settings).toEqual(MALLOC);
});
