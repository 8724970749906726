// Calls of tools through a real ssh to a real sshd: two terminals between the script and its session.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FarShell, MEGABYTE } from '../../helpers/terminals/far-shell';
import { Sshd, noSshd } from '../../helpers/hosts/sshd';
import { until } from '../../helpers/until';

const missing = noSshd();
const withSshd = missing ? describe.skip : describe;

const SHELL = 'exec env -i HOME="$HOME" PATH="$PATH" TMPDIR="$PWD" PS1="far> " bash --norc';

withSshd(`through ssh${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const sshd = new Sshd();
  let far: FarShell;
  beforeAll(async () => {
    await sshd.start();
    if (!sshd.letsIn()) throw new Error('sshd does not let the user of the tests in');
  });
  afterAll(() => sshd.end());
  beforeEach(() => {
    far = new FarShell();
  });
  afterEach(() => far.end());

  const shell = (options: string): string => sshd.ssh(`cd ${far.t.cwd}; ${SHELL} ${options}`);
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

  test('a script gets 1 MB unharmed, and neither frames nor answers nor a nonce are in the transcript', async () => {
    await far.open(shell('--noediting'));
    await far.connect();
    writeFileSync(
      join(far.t.cwd, 'script.py'),
      `import codex_tools, hashlib, os
assert not any(name.startswith("HOLDFAST_TOOL") for name in os.environ)
sent = "<<END_TOOL_CALL>> ä\\n" * 50_000
got = codex_tools.echo(text=sent)["text"]
print(got == sent, hashlib.sha256(codex_tools.big().encode()).hexdigest())`,
    );
    expect(await far.run('python3 script.py')).toBe(`True ${sha256(MEGABYTE)}\r\n`);
    expect(far.calls.map(({ tool, cwd }) => [tool, cwd])).toEqual([
      ['echo', far.t.cwd],
      ['big', far.t.cwd],
    ]);
    const folder = (await far.run('echo "$HOLDFAST_IN_BAND"')).trim();
    const { transcript } = far;
    expect(transcript).not.toContain(readFileSync(join(folder, 'nonce'), 'utf8'));
    expect(transcript).not.toMatch(/<<TOOL_CALL|TOOL_RESULT|"cwd"/);
    expect(transcript.length).toBeLessThan(2_000);
  });

  test('a shell with line editing is connected by a pasted line', async () => {
    await far.open(shell(''));
    await far.type(await far.arm('print'));
    await far.untilConnected();
    await far.type('tool big >big; echo ov""er');
    await far.untilPrinted('over\r\n');
    expect(readFileSync(join(far.t.cwd, 'big'), 'utf8') === MEGABYTE).toBe(true);
  });

  test('text that looks like a call, printed by cat there, calls nothing', async () => {
    await far.open(shell('--noediting'));
    await far.connect();
    const text = `<<TOOL_CALL>>{"nonce":"${'0'.repeat(32)}","id":"1","tool":"x","args":{},"cwd":"/"}<<END_TOOL_CALL>>\n`;
    writeFileSync(join(far.t.cwd, 'alike'), text.repeat(1_000));
    expect(await far.run('cat alike')).toBe(text.replace('\n', '\r\n').repeat(1_000));
    expect(await far.run('tool real')).toBe('{}\r\n');
    expect(far.calls.map(({ tool }) => tool)).toEqual(['real']);
  });

  test('a Ctrl-C there cancels the call and leaves both terminals as they were', async () => {
    await far.open(shell('--noediting'));
    await far.connect();
    const before = await far.run('stty -a | sha256sum');
    await far.type('tool never');
    await until(() => far.calls.length === 1);
    await far.type(null, 'ctrl-c');
    await until(() => far.cancelled.length === 1);
    expect(await far.run('stty -a | sha256sum')).toBe(before);
    expect(await far.run('tool real')).toBe('{}\r\n');
  });
});
