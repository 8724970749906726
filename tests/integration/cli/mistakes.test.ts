// docs/mistakes.md: the likeliest mistakes at the command line, and what is printed. `UPDATE_DOCS=1 npx jest mistakes`
// writes it anew, to be read before it is committed.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { packageRoot } from '../../../system/package-root';

const PAGE = join(packageRoot(), 'docs', 'mistakes.md');

const engine = new EngineOfItsOwn();
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-mistakes-'));
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'broken.yaml'), '- text: [\n');
  writeFileSync(join(cwd, 'broken.toml'), '[storage\n');
  writeFileSync(join(cwd, 'unknown.toml'), '[storage]\nsesion_log_mb = 1\n');
  writeFileSync(join(cwd, 'ok.yaml'), '- text: Done.\n');
  writeFileSync(join(cwd, 'broken-tools.mjs'), 'export const tools = [{ name: "a b" }];\n');
  await engine.start();
  await hf(['exec', '--session', '1', '--yield-ms', '0', 'sleep 1000']);
  await hf(['exec', '--session', '2', 'true']);
}, 60_000);
afterAll(async () => {
  await engine.end();
  rmSync(cwd, { recursive: true, force: true });
}, 60_000);

const hf = (args: string[]): Promise<CliResult> =>
  engine.cliInTurn(args, { cwd, env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } });

/** Commands by what they are about. */
const MISTAKES: Record<string, string[][]> = {
  Mistyped: [
    ['statsu'],
    ['exce', 'ls'],
    ['ps', '--al'],
    ['run', '--modle', 'scripted:ok.yaml', 'hello'],
    ['exec'],
    ['exec', 'ls', 'extra'],
    ['host', 'serv', 'laptop'],
  ],
  Values: [
    ['exec', '--session', '-1', 'ls'],
    ['exec', '--session', 'one', 'ls'],
    ['exec', '--agent', 'My Agent', 'ls'],
    ['exec', '--host', 'far/away', 'ls'],
    ['exec', '--runtime', 'ruby', 'puts 1'],
    ['exec', '--yield-ms', 'soon', 'ls'],
    ['exec', ''],
    ['exec', '--cwd', '/not/there', 'ls'],
    ['exec', '--session', '2', '--cwd', '/usr', 'ls'],
    ['exec', '--host', 'nowhere', 'ls'],
    ['up', '--port', '99999'],
    ['up', '--listen', 'nonsense'],
    ['up', '--config', 'not-there.toml'],
    ['up', '--config', 'broken.toml'],
    ['up', '--config', 'unknown.toml'],
    ['up', '--tools', 'not-there.mjs'],
    ['up', '--tools', 'broken-tools.mjs'],
  ],
  Sessions: [
    ['exec', '--session', '1', 'ls'],
    ['input', 'yes'],
    ['input', '--session', '1'],
    ['input', '--session', '1', '--key', 'cntrl-c'],
    ['input', '--session', '7', 'yes'],
    ['output', '--session', '7'],
    ['output', '--session', '2', '--from', '100000'],
    ['output', '--session', '2', '--wait', 'done'],
    ['output', '--session', '2', '--wait', ''],
    ['output', '--session', '2', '--wait', 'pattern:('],
    ['reset', '--session', '7'],
    ['close', '--session', '7'],
    ['attach', '--session', '2'],
    ['attach', '--detach-key', 'q'],
    ['wait', '7'],
    ['wait'],
  ],
  'Agents and models': [
    ['run', 'hello'],
    ['run', 'hello', '--model', 'gpt-5'],
    ['run', 'hello', '--model', 'opnai:gpt-5'],
    ['run', 'hello', '--model', 'scripted:not-there.yaml'],
    ['run', 'hello', '--model', 'scripted:broken.yaml'],
    ['run', 'hello', '--model', 'scripted:ok.yaml', '--dialect', 'json'],
    ['run', '', '--model', 'scripted:ok.yaml'],
    ['chat'],
    ['chat', '--resume'],
    ['send', 'nobody', 'hello'],
    ['stop', 'nobody'],
    ['fork', 'nobody', 'other'],
    ['tree', 'nobody'],
    ['tree', ''],
    ['approve'],
    ['approve', ''],
    ['deny', ''],
    ['approve', 'no-such-id'],
  ],
  'Servers and files': [
    ['ps', '--address', '127.0.0.1:1'],
    ['ps', '--data', ''],
    ['ps', '--data', 'folder'],
    ['ps', '--data', 'ok.yaml'],
    ['up', '--data', 'ok.yaml/data'],
    ['ps', '--namespace', 'prodution'],
    ['exec', '--namespace', 'prodution', 'ls'],
    ['ps', '--profile', 'nobody'],
    ['check', 'not-there.sh'],
    ['check', 'folder'],
    ['tools', 'show', 'shel'],
    ['tools', 'show'],
    ['token', 'create', 'ann'],
    ['token', '--json'],
  ],
};

/** What differs from run to run. */
const steady = (text: string): string =>
  text
    .replaceAll(cwd, '/home/ann/project')
    .replaceAll(engine.dataDir, '/home/ann/data')
    .replaceAll(engine.server().address, '127.0.0.1:7233')
    .replace(/\bpid \d+/g, 'pid 4711')
    .replace(/since \d{4}-\S+Z/g, 'since 2026-01-01T00:00:00.000Z')
    .trim();

const word = (text: string): string => (/^[\w./:=-]+$/.test(text) ? text : `'${text}'`);

async function entryOf(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await hf(args);
  const printed = steady(`${stdout}${stderr}`);
  expect([args, printed]).not.toEqual([args, expect.stringMatching(/internal|undefined|\[object|Error:|^$/)]);
  return [
    '```text',
    `$ holdfast ${args.map(word).join(' ')}`,
    printed,
    `(exit code ${code})`,
    '```',
    '',
  ].join('\n');
}

async function sectionOf(title: string, commands: string[][]): Promise<string> {
  const entries: string[] = [];
  for (const command of commands) entries.push(await entryOf(command));
  return [`## ${title}`, '', ...entries].join('\n');
}

test('each of the likeliest mistakes is told what was given, what is allowed and what to do next, and breaks nothing', async () => {
  const before = (await hf(['ps'])).stdout.replace(/ +\d+\S*s /g, ' ');
  const sections: string[] = [];
  for (const [title, commands] of Object.entries(MISTAKES)) sections.push(await sectionOf(title, commands));
  const head =
    '# The likeliest mistakes\n\nWhat the command line prints for them. A test runs each of these and compares. The command\n' +
    'runs in a folder with some files, beside a server, a worker, a busy session 1 and an idle session 2.\n';
  const page = [head, ...sections].join('\n');
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, page);
  expect(page).toBe(readFileSync(PAGE, 'utf8'));
  expect((await hf(['ps'])).stdout.replace(/ +\d+\S*s /g, ' ')).toBe(before);
}, 240_000);
