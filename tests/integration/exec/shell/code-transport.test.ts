// S6: code arrives as it was sent, whatever it holds.
import { createHash } from 'node:crypto';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, logOf } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

test.each([
  ['several lines', 'a=1\nb=2\n\n\necho $((a + b))', '3\n'],
  ['a loop over lines', 'for i in 1 2 3\ndo\n  echo "i=$i"\ndone', 'i=1\ni=2\ni=3\n'],
  ['a heredoc', "cat <<'EOF'\n$HOME `x` \\n\nEOF\necho after", '$HOME `x` \\n\nafter\n'],
  ['a heredoc that expands', 'x=5; cat <<EOF\n$x\n  $((x * 2))\nEOF', '5\n  10\n'],
  ['a heredoc with tabs', 'cat <<-EOF\n\tindented\n\tEOF', 'indented\n'],
  ['quotes of all kinds', `echo "it's" 'a "b"' $'c\\'d' "\\$x" '\\'`, `it's a "b" c'd $x \\\n`],
  ['backticks and backslashes', 'echo `echo \\`echo deep\\`` \\\\ "\\\\"', 'deep \\ \\\n'],
  ['a line continuation', 'echo a \\\n  b', 'a b\n'],
  ['exclamation marks', 'echo "hi!!" !$ !x', 'hi!! !$ !x\n'],
  ['literal tabs', 'printf "%s\n" "a\tb"', 'a\tb\n'],
  ['non-ASCII text', 'echo "naïve 日本語 🎉 Ω"', 'naïve 日本語 🎉 Ω\n'],
  ['non-ASCII names', 'mkdir -p "Ordner ü/日本"; cd "Ordner ü/日本"; basename "$PWD"; cd ../..', '日本\n'],
  ['a comment at its end', 'echo a # the end', 'a\n'],
  ['a backslash at its end', 'echo a \\', 'a\n'],
  ['blank lines around it', '\n\n  echo a\n\n', 'a\n'],
  ['percent signs', `printf '%s\\n' '%d %s %%'`, '%d %s %%\n'],
  ['a prompt in its output', `printf '$ \\n'; echo next`, '$ \nnext\n'],
  ['a shell inside, which ends', `bash --norc -c 'PS1="$ "; echo inner'; echo outer`, 'inner\nouter\n'],
  [
    'an interactive shell inside',
    `bash --norc -i 2>/dev/null <<'EOF'\necho inner\nexit\nEOF\necho outer`,
    'inner\nouter\n',
  ],
  ['words of the driver', 'E=1; echo "E - 0"; echo "X 0"; echo E 1 0', 'E - 0\nX 0\nE 1 0\n'],
])('%s arrives unchanged', async (_name, code, output) => {
  expect(await t.run(code)).toMatchObject({ output, exitCode: 0 });
});

test('100 KB of code arrive unchanged', async () => {
  const text = `${Array.from({ length: 2_500 }, (_, i) => `${i} 'quoted' "ünïcode" \\ $x \`y\` 日本 ${'.'.repeat(i % 9)}`).join('\n')}\n`;
  expect(Buffer.byteLength(text)).toBeGreaterThan(100_000);
  const view = await t.run(`sha256sum <<'END OF CODE'\n${text}END OF CODE\n`);
  expect(view.output).toBe(`${createHash('sha256').update(text).digest('hex')}  -\n`);
});

test('a line of 100 KB arrives unchanged', async () => {
  const line = 'x'.repeat(100_000);
  expect((await t.run(`line='${line}'; echo \${#line}`)).output).toBe('100000\n');
});

test('neither the code nor a prompt appears in the log', async () => {
  const { from, to } = await t.run('echo $((40 + 2))\necho done');
  expect(logOf(t).subarray(from, to).toString()).toBe('42\r\ndone\r\n');
});

test('the code of a command is neither in the history nor in the environment of programs', async () => {
  expect((await t.run('history; env | grep -c __hf_ ; echo "[$HISTFILE]"')).output).toBe('0\n[]\n');
});
