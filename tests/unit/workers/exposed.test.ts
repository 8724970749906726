// What the worker loads and runs, if code in a sandbox may write some of it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import {
  configurationSource,
  readConfiguration,
  type Configuration,
} from '../../../workers/configuration/configuration';
import {
  exposedNow,
  isExposed,
  loadedPlaces,
  moduleFiles,
  outsideProgram,
  refuseExposed,
  refuseExposedParts,
  trustedSecrets,
  trustedServer,
  type Exposed,
} from '../../../workers/configuration/exposed';

let folder: string;
let workdir: string;
let dataDir: string;
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'holdfast-exposed-'));
  [workdir = '', dataDir = ''] = ['work', 'data'].map((name) => join(folder, name));
  for (const place of [workdir, dataDir]) mkdirSync(place);
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text = '#!/bin/sh\n'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o700 });
  return path;
}

/** `holdfast.toml` with a sandbox, at a place. */
function configure(
  text: string,
  at = dataDir,
): { file: string; configuration: Configuration; exposed: Exposed } {
  const file = put(join(at, 'holdfast.toml'), `${text}\n[sandbox]\nmode = "required"\n`);
  const configuration = readConfiguration(configurationSource({ dataDir, config: file }));
  return { file, configuration, exposed: exposedNow({ dataDir, config: file, workdir }) };
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'config_invalid') return err.message;
    throw err;
  }
  return '';
}

test.each<[string, string, (path: string) => string]>([
  ['a tool module', 'tools.mjs', (path) => `[tools]\nmodules = ["${path}"]`],
  ['a key of payloads', 'key', (path) => `[encryption]\nkeys = [{ id = "a", file = "${path}" }]`],
  ['the file of secrets', 'secrets.toml', (path) => `[secrets]\nfile = "${path}"`],
  ['the program of secrets', 'bin/secret', (path) => `[secrets]\ncommand = ["${path}", "{name}"]`],
  ['a script of that program', 'get.py', (path) => `[secrets]\ncommand = ["python3", "${path}", "{name}"]`],
])('%s that code in the sandbox could change is refused, with both named', (_what, name, text) => {
  const inside = put(join(workdir, name));
  const { configuration, exposed } = configure(text(inside));
  const said = refusal(() => refuseExposedParts(configuration, exposed));
  expect(said).toContain(inside);
  expect(said).toContain(`because ${workdir} is writable there`);
  const outside = configure(text(put(join(folder, 'else', name))));
  expect(refusal(() => refuseExposedParts(outside.configuration, outside.exposed))).toBe('');
});

test('a module outside is refused if a link in such a folder leads to it', () => {
  put(join(folder, 'lib', 'tools.mjs'));
  symlinkSync(join(folder, 'lib'), join(workdir, 'lib'));
  const { exposed } = configure('');
  expect(refusal(() => refuseExposed(moduleFiles([join(workdir, 'lib', 'tools.mjs')]), exposed))).toContain(
    workdir,
  );
  expect(refusal(() => refuseExposed(moduleFiles([join(folder, 'lib', 'tools.mjs')]), exposed))).toBe('');
});

test('the data folder may lie in the workspace, because it is hidden there', () => {
  dataDir = join(workdir, 'deep', '.holdfast');
  const file = put(join(dataDir, 'secrets.toml'));
  const { configuration, exposed } = configure(`[secrets]\nfile = "${file}"`);
  expect(exposed.roots).toEqual([workdir]);
  expect(refusal(() => refuseExposedParts(configuration, exposed))).toBe('');
});

test('a configuration in the workspace is accepted, and is among what is read-only there', () => {
  const { file, configuration, exposed } = configure('', workdir);
  expect(isExposed(file, exposed)).toBe(true);
  expect(loadedPlaces(configuration, file, exposed)).toEqual(
    expect.arrayContaining([file, join(workdir, 'roles')]) as string[],
  );
});

test('a configuration that is a link in the workspace is refused: nothing can be mounted over it', () => {
  const { configuration, exposed } = configure('', join(folder, 'else'));
  const link = join(workdir, 'holdfast.toml');
  symlinkSync(join(folder, 'else', 'holdfast.toml'), link);
  expect(refusal(() => loadedPlaces(configuration, link, exposed))).toContain(link);
});

test('a program run outside is never from the workspace, and neither is what it starts in turn', () => {
  const { configuration, exposed } = configure('[secrets]\ncommand = ["it", "{name}"]');
  const [planted, own] = [join(workdir, 'bin'), join(folder, 'bin')];
  put(join(planted, 'it'));
  const path = `${planted}:${own}`;
  expect(refusal(() => outsideProgram('it', exposed, path))).toContain(
    `${planted}/it, which code in the sandbox`,
  );
  put(join(own, 'it'));
  expect(outsideProgram('it', exposed, path)).toEqual({ program: join(own, 'it'), path: own });
  // Without a sandbox nothing changes.
  expect(outsideProgram('it', { roots: [], dataDir }, path)).toEqual({ program: 'it', path });
  const before = process.env.PATH;
  process.env.PATH = path;
  try {
    const trusted = trustedSecrets(configuration.secrets, exposed);
    expect(trusted).toMatchObject({ command: [join(own, 'it'), '{name}'], path: own });
  } finally {
    process.env.PATH = before;
  }
});

test.each<[string, (workspace: string) => string]>([
  ['whose program', (at) => `command = "${at}/bin/server"`],
  ['whose script', (at) => `command = "/bin/sh"\nargs = ["${at}/bin/server"]`],
  ['whose working folder', (at) => `command = "/bin/sh"\ncwd = "${at}"`],
])('an MCP server %s code in the sandbox could change is not started, and says why', (_what, text) => {
  put(join(workdir, 'bin', 'server'));
  const { configuration, exposed } = configure(`[mcp_servers.own]\n${text(workdir)}`);
  const [server] = configuration.mcpServers;
  expect(server && trustedServer(server, exposed).fault).toContain(workdir);
  expect(server && trustedServer(server, { roots: [], dataDir }).fault).toBeNull();
});

test('an MCP server may be given a folder of the workspace to serve', () => {
  const { configuration, exposed } = configure(
    `[mcp_servers.own]\ncommand = "/bin/sh"\nargs = ["${workdir}"]`,
  );
  const [server] = configuration.mcpServers;
  expect(server && trustedServer(server, exposed).fault).toBeNull();
});

test('arguments that are no paths, or lead nowhere, keep no secrets and no MCP server from being used', () => {
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  const words = ['-c', `printf %s {name} # /${'x'.repeat(300)}/`, `${loop}/script.sh`];
  const { configuration, exposed } = configure(
    `[secrets]\ncommand = ${JSON.stringify(['sh', ...words])}\n` +
      `[mcp_servers.a]\ncommand = "sh"\nargs = ${JSON.stringify(words)}`,
  );
  expect(refusal(() => refuseExposedParts(configuration, exposed))).toBe('');
  const [server] = configuration.mcpServers;
  if (!server) throw new Error('no server');
  expect(trustedServer(server, exposed).fault).toBeNull();
});
