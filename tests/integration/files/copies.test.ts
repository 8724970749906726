// `holdfast cp` to this machine's host and to one that listens: both ways, and what the host allows.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { HostFiles } from '../../../exec/transfer/index';
import { filesSocket } from '../../../exec/transfer/door/files-door';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { Person } from '../../helpers/terminals/person';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { scratch, uniqueId } from '../../helpers/engines/temporal';
import { smallDisk } from '../exec/output/small-disk';
import { treeOf } from '../../helpers/hosts/transfers';
import { until } from '../../helpers/until';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

const BIN = join(__dirname, '../../../bin/holdfast.js');
const engine = new EngineOfItsOwn();
const files = scratch();
let pi: RemoteHost;
let deaf: RemoteHost;
let token: string;
let work: string;
let here: string;

beforeAll(async () => {
  await engine.start();
  work = join(engine.dataDir, 'work');
  here = join(files.directory, 'here');
  mkdirSync(here);
  pi = new RemoteHost('pi', engine.server().address);
  deaf = new RemoteHost('deaf', engine.server().address);
  await Promise.all([pi.serve('--listen', '127.0.0.1:0'), deaf.serve()]);
  token = (await pi.cli('host', 'token', 'pi')).trim();
  const known = async (name: string) => (await engine.client.hosts.state(name).catch(() => null))?.facts;
  await until(async () => Boolean((await known('pi'))?.listens && (await known('deaf'))));
}, 60_000);
afterAll(async () => {
  await Promise.all([pi.end(), deaf.end()]);
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** The command line, in the folder `here`, with the token of `pi`. */
const cp = (from: string, to: string, ...more: string[]) =>
  engine.cliInTurn(['cp', from, to, ...more], { cwd: here, env: { HOLDFAST_HOST_TOKEN: token } });

function makeTree(): string {
  const tree = join(here, uniqueId('tree'));
  mkdirSync(join(tree, 'sub', 'empty'), { recursive: true });
  writeFileSync(join(tree, 'sub', 'large'), Buffer.alloc(5_000_001, 'ab'));
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xfe, 0x1b])]), 'bytes');
  symlinkSync('../x', join(tree, 'sub', 'link'));
  writeFileSync(join(tree, 'run.sh'), 'true\n');
  chmodSync(join(tree, 'run.sh'), 0o755);
  return tree;
}

test.each([
  ['the host of this data folder', '', () => work],
  ['a host that listens', 'pi/', () => pi.root],
])('a tree is the same after a way to %s and back', async (_host, host, place) => {
  const tree = makeTree();
  const agent = `${host}${uniqueId('nobody')}`;
  const sent = await cp(tree, `${agent}:copy`, '--json');
  expect(sent).toMatchObject({ code: 0, stderr: '' });
  expect(treeOf(join(place(), 'copy'))).toEqual(treeOf(tree));
  const lines = sent.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.at(-1)).toMatchObject({
    done: true,
    files: 3,
    folders: 3,
    links: 1,
    failed: 0,
    bytes: 5_000_011,
  });
  expect(lines).toContainEqual(expect.objectContaining({ pathBase64: expect.any(String) as string }));
  const back = await cp(`${agent}:copy/.`, 'back');
  expect(back).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(treeOf(join(here, 'back'))).toEqual(treeOf(tree));
  rmSync(join(here, 'back'), { recursive: true });
  rmSync(join(place(), 'copy'), { recursive: true });
});

test('a set-user-ID bit is not copied, and `cp` says so', async () => {
  const agent = uniqueId('nobody');
  const file = join(here, 'su');
  writeFileSync(file, 'x');
  chmodSync(file, 0o4755);
  const { code, stderr } = await cp('su', `${agent}:su`);
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('su: copied without set-user-ID') as string,
  });
  const { stdout } = await cp(`${agent}:su`, 'back-su', '--json');
  expect(stdout).not.toContain('notCopied');
  expect((await cp('su', `${agent}:su`, '--json')).stdout).toContain('"notCopied":["set-user-ID"]');
});

test('a relative path begins in the agent’s folder, on the agent’s host', async () => {
  const agent = uniqueId('in-a-folder');
  const folder = join(pi.root, agent);
  mkdirSync(folder);
  const { model } = files.settings([{ text: 'done' }]);
  await engine.client.agent(agent).start({ task: 'x', model, host: 'pi', cwd: folder });
  writeFileSync(join(here, 'note'), 'for the agent');
  expect(await cp('note', `${agent}:`)).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'note'), 'utf8')).toBe('for the agent');
});

test('standard input and output are one file', async () => {
  const from = await engine.cli(['cp', '-', 'nobody:typed'], { input: 'typed text', cwd: here });
  expect(from).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(join(work, 'typed'), 'utf8')).toBe('typed text');
  expect(await engine.cli(['cp', 'nobody:typed', '-'])).toEqual({
    code: 0,
    stdout: 'typed text',
    stderr: '',
  });
  expect(await engine.cli(['cp', 'nobody:.', '-'])).toMatchObject({ code: 64, stdout: '' });
});

test('one signal ends a copy of standard input that says nothing, and so does a refusal', async () => {
  const copying = (path: string) => {
    const child = spawn(process.execPath, [BIN, 'cp', '-', `nobody:${path}`, '--data', engine.dataDir]);
    return Object.assign(Promise.all([once(child, 'exit'), text(child.stderr)]), { child });
  };
  const left = copying('never');
  await until(() => readdirSync(work).some((name) => name.startsWith('.holdfast-new')));
  left.child.kill('SIGTERM');
  expect(await left).toEqual([[130, null], expect.stringMatching(/Interrupted.* again from the beginning/s)]);
  expect(existsSync(join(work, 'never'))).toBe(false);
  expect(await copying('.')).toEqual([[64, null], expect.stringContaining('invalid_input')]);
});

test('standard output gets the very bytes of a file, and its report goes elsewhere', async () => {
  // Not UTF-8, with a line end of Windows and what a terminal would obey, in more than one piece.
  const bytes = Buffer.concat([
    Buffer.from([0x1f, 0x8b, 0xff, 0x0d, 0x0a, 0x1b]),
    Buffer.alloc(700_001, 'aé\r\n'),
  ]);
  writeFileSync(join(work, 'bytes'), bytes);
  const command = `"${process.execPath}" "${BIN}" cp nobody:bytes - --json --data "${engine.dataDir}"`;
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { maxBuffer: 10_000_000 });
  expect(stdout.equals(bytes)).toBe(true);
  const lines = String(stderr)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines.at(-1)).toMatchObject({ done: true, files: 1, bytes: bytes.length });
});

test('a person at a terminal sees one line of progress, drawn again in its place', async () => {
  // Longer than the pause between two lines.
  writeFileSync(join(here, 'big'), '');
  truncateSync(join(here, 'big'), 300_000_000);
  const { namespace } = engine.client.temporal.options;
  const shell = `TEMPORAL_NAMESPACE=${namespace} exec "$@"`;
  const person = new Person(engine.dataDir, ['big', 'nobody:big'], { cwd: here, shell, command: 'cp' });
  expect(await person.exits()).toBe(0);
  expect(person.text).toContain('1 file, 300 MB in');
  const drawn = person.text.split('\r\x1b[K').filter((line) => /\d+% .+\/s/.test(line));
  expect(drawn).not.toEqual([]);
  expect(person.text).not.toContain('u{1b}');
});

test('what cannot be copied is told, with an exit code and what to do', async () => {
  expect(await cp('a', 'b')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('AGENT:PATH') as string,
  });
  expect(await cp('nobody:none', 'b')).toMatchObject({
    code: 66,
    stderr: expect.stringContaining(join(work, 'none')) as string,
  });
  writeFileSync(join(here, 'c'), 'new');
  writeFileSync(join(work, 'c'), 'old');
  expect(await cp('c', 'nobody:c', '--no-clobber')).toMatchObject({ code: 0 });
  expect(readFileSync(join(work, 'c'), 'utf8')).toBe('old');
  expect(await cp('c', 'deaf/nobody:c')).toMatchObject({
    code: 69,
    stderr: expect.stringContaining('--listen') as string,
  });
  const withoutToken = await engine.cliInTurn(['cp', 'c', 'pi/nobody:c'], { cwd: here });
  expect(withoutToken).toMatchObject({
    code: 69,
    stderr: expect.stringContaining('host token pi') as string,
  });
  const wrong = await engine.cliInTurn(['cp', 'c', 'pi/nobody:c'], {
    cwd: here,
    env: { HOLDFAST_HOST_TOKEN: 'wrong' },
  });
  expect(wrong).toMatchObject({ code: 77, stderr: expect.stringContaining('attach_refused') as string });
  expect(existsSync(join(pi.root, 'c'))).toBe(false);
});

test('a host that is read-only gives files and takes none; one that is off does neither; both are recorded', async () => {
  writeFileSync(join(here, 'd'), 'mine');
  writeFileSync(join(pi.root, 'd'), 'theirs');
  try {
    await pi.cli('host', 'access', 'pi', 'read-only');
    expect(await cp('d', 'pi/nobody:d')).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('read_only_host') as string,
    });
    expect(await cp('pi/nobody:d', 'd2')).toMatchObject({ code: 0 });
    await pi.cli('host', 'access', 'pi', 'off');
    expect(await cp('pi/nobody:d', 'd3')).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('execution_disabled') as string,
    });
  } finally {
    await pi.cli('host', 'access', 'pi', 'read-write');
  }
  expect(readFileSync(join(pi.root, 'd'), 'utf8')).toBe('theirs');
  expect(readdirSync(here)).not.toContain('d3');
  const audit = readFileSync(join(pi.dataDir, 'audit.pi.jsonl'), 'utf8');
  expect(audit).toMatch(
    /"what":"writeFiles","agent":"nobody",.*"path":"[^"]+\/d","outcome":"refused","why":"read_only_host"/,
  );
  expect(audit).toMatch(/"what":"readFiles","agent":"nobody",.*"path":"[^"]+\/d","outcome":"approved"/);
});

test('only this user reaches the files of a host through its socket', () => {
  const socket = filesSocket(pi.dataDir, 'pi');
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(statSync(join(socket, '..')).mode & 0o777).toBe(0o700);
});

test('a program copies as the command does, and an abort interrupts it', async () => {
  const tree = makeTree();
  const { facts } = await engine.client.hosts.state('pi');
  const listens = facts?.listens ?? { address: '', fingerprint: '' };
  const pis = new HostFiles('pi', { host: 'pi', listens, token });
  const outcomes = await pis.copyIn(tree, { agent: 'nobody', path: 'theirs', base: pi.root });
  expect(outcomes.filter(({ is }) => is === 'done')).toHaveLength(7);
  const own = new HostFiles('local', { dataDir: engine.dataDir });
  await own.copyIn(tree, { agent: 'nobody', path: 'ours' });
  await own.copyOut({ agent: 'nobody', path: 'ours' }, join(here, 'ours'));
  expect(treeOf(join(pi.root, 'theirs'))).toEqual(treeOf(tree));
  expect(treeOf(join(here, 'ours'))).toEqual(treeOf(tree));
  const over = new AbortController();
  const observer = { moved: () => over.abort() };
  const large = { agent: 'nobody', path: 'ours/sub/large' };
  const copying = own.copyOut(large, join(here, 'aborted'), { observer, signal: over.signal });
  await expect(copying).rejects.toThrow('aborted');
  expect(existsSync(join(here, 'aborted'))).toBe(false);
  await expect(new HostFiles('none', { dataDir: here }).copyIn(tree, large)).rejects.toMatchObject({
    code: 'files_unreachable',
  });
});

const disk = smallDisk(2);
(disk ? test : test.skip)('a full disk is told once, with what to do', async () => {
  if (!disk) return;
  try {
    writeFileSync(join(work, 'larger'), Buffer.alloc(5_000_000));
    const { code, stderr } = await cp('nobody:larger', disk.path);
    expect(code).toBe(74);
    expect(stderr.match(/storage_failed/g)).toHaveLength(1);
    expect(stderr).toContain('Free space on that disk, then copy it again.');
    const { stdout } = await cp('nobody:larger', disk.path, '--json');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([{ is: 'failed' }, { done: false, failed: 1 }]);
  } finally {
    disk.unmount();
  }
});

test('names are printed inertly', async () => {
  const hostile = 'x\x1b]0;owned\x07\u202e';
  mkdirSync(join(here, 'pipes'), { recursive: true });
  execFileSync('mkfifo', [join(here, 'pipes', hostile)]);
  const { stderr } = await cp('pipes', 'nobody:pipes');
  expect(stderr).toContain('skipped pipes/x\\u{1b}]0;owned\\u{7}\\u{202e}: a named pipe');
  expect(stderr).not.toContain('\x1b');
});
