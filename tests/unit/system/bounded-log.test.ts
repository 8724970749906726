// A log that is kept small while it is written.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rotateOpen } from '../../../system/log/bounded-log';
import { LogReader } from '../../../system/log/logged-lines';
import { ProcessLog } from '../../../system/log/process-log';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const textOf = (lines: { text: string }[]): string => lines.map(({ text }) => text).join(' ');

test('a full log is moved aside without losing a line of a process that holds it open, and only so many are kept', async () => {
  const path = join(folder, 'worker.log');
  const log = openSync(path, 'a');
  const child = spawn('sh', ['-c', 'while read line; do echo "$line"; done'], {
    stdio: ['pipe', log, 'ignore'],
  });
  const say = async (line: string): Promise<void> => {
    const before = statSync(path).size;
    child.stdin?.write(`${line}\n`);
    while (statSync(path).size === before) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const limits = { maxBytes: 10, keep: 2 };
  for (const line of ['first, a long one', 'second, a long one', 'third, a long one']) {
    await say(line);
    rotateOpen(path, limits);
  }
  await say('short');
  rotateOpen(path, limits);
  expect(readFileSync(path, 'utf8')).toBe('short\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('third, a long one\n');
  expect(readFileSync(`${path}.2`, 'utf8')).toBe('second, a long one\n');
  expect(existsSync(`${path}.3`)).toBe(false);
  expect(textOf(new LogReader(path).read())).toBe('second, a long one third, a long one short');
  child.kill();
  await once(child, 'exit');
});

test('a reader that follows a log tells each line once, also over a move and a line that is half written', () => {
  const path = join(folder, 'worker.log');
  const reader = new LogReader(path);
  expect(reader.read()).toEqual([]);
  appendFileSync(path, 'one\ntw');
  expect(textOf(reader.read())).toBe('one');
  appendFileSync(path, 'o\n');
  expect(textOf(reader.read())).toBe('two');
  rotateOpen(path, { maxBytes: 1, keep: 1 });
  appendFileSync(path, 'three\n');
  expect(textOf(reader.read())).toBe('three');
});

test('what was written right before a log is moved aside is told to those who follow it', () => {
  const path = join(folder, 'worker.log');
  const reader = new LogReader(path);
  appendFileSync(path, 'one\n');
  reader.read();
  appendFileSync(path, 'two\n');
  rotateOpen(path, { maxBytes: 1, keep: 1 });
  appendFileSync(path, 'three\n');
  expect(textOf(reader.read())).toBe('two three');
});

test('a line says whom it is about, by the id of the workflow', () => {
  const lines: string[] = [];
  const log = new ProcessLog('worker', 'info', (line) => lines.push(line));
  log.info('turn ended', { workflowId: 'agent/review/turn/3', namespace: 'default', taskQueue: 'q' });
  log.warn('command lost', { workflowId: 'exec/review/laptop/2' });
  log.info('host gone', { workflowId: 'host/laptop' });
  log.error('broken', { error: new Error('why', { cause: new Error('deeper') }) });
  log.debug('not of interest');
  const [turn, command, host, broken] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(turn).toMatchObject({ level: 'info', process: 'worker', agent: 'review', turn: 3 });
  expect(turn).not.toHaveProperty('taskQueue');
  expect(command).toMatchObject({ level: 'warn', agent: 'review', host: 'laptop', session: 2 });
  expect(host).toMatchObject({ host: 'laptop', message: 'host gone' });
  expect(broken).toMatchObject({ error: { message: 'why', cause: { message: 'deeper' } } });
  expect(lines).toHaveLength(4);
});
