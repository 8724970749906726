// S4: prompts of other shells, whatever they look like, are neither an end nor an input that was not asked for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandView } from '../../../../contracts/sessions/session';
import { commandView } from '../../../../exec/host/command-view';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, eventually, logOf, reset } from '../session-processes';
import { testWith, type Program } from '../../../helpers/run/programs';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterEach(() => reset(t));
afterAll(() => endWithoutTrace(t));

const exit = (): Promise<CommandView> => t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
let typed = 0;
const type = (text: string): Promise<unknown> => t.host.input(t.ref, { id: `f${++typed}`, text, keys: [] });

/** How each shell is started with its own prompt, and how it sleeps and ends. */
const SHELLS: [shell: 'bash' | 'dash' | Program, prompt: string, start: string][] = [
  ['bash', 'custom', `PS1='mine> ' bash --norc --noprofile -i`],
  ['bash', 'empty', `PS1= bash --norc --noprofile -i`],
  ['dash', 'usual', `PS1='$ ' dash -i`],
  ['zsh', 'usual', `zsh -f -i`],
  ['zsh', 'custom', `PS1='%~ mine> ' zsh -f -i`],
  ['zsh', 'empty', `PS1= zsh -f -i`],
  ['fish', 'usual', `fish --no-config -i`],
  ['fish', 'empty', `fish --no-config -i -C 'function fish_prompt; end'`],
];

for (const [shell, prompt, start] of SHELLS) {
  const title = `${shell} with its ${prompt} prompt`;
  const run = shell === 'bash' || shell === 'dash' ? test : testWith(shell);
  run(`${title} is a program that waits, sleeps and ends by its own facts`, async () => {
    const go = join(t.cwd, `go-${++typed}`);
    const view = await t.run(`HOME=${t.cwd} ${start}`, {
      yield: { promptMs: 300, betweenOutputMs: 5_000 },
    });
    expect(view).toMatchObject({ state: 'waiting_input', exitCode: null, yielded: 'waiting_input' });
    await type(`printf 'user@h''ost:~$ '; sh -c 'until [ -e ${go} ]; do sleep 0.02; done'; printf 'o''ver'`);
    await eventually(
      () => logOf(t).toString(),
      (log) => log.includes('user@host:~$ ', view.to),
    );
    const { from } = view;
    // Asleep after what looks like a prompt.
    expect(await t.until({ kind: 'needs_input', from, timeoutMs: 700 })).toMatchObject({
      state: 'running',
      waiting: null,
    });
    writeFileSync(go, '');
    await eventually(
      () => logOf(t).toString(),
      (log) => log.includes('over', view.to),
    );
    const again = await t.until({ kind: 'needs_input', from, timeoutMs: 30_000 });
    expect(again).toMatchObject({ state: 'waiting_input', exitCode: null });
    await type('exit 5');
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 5, killedBy: null });
    expect(await t.run('echo mine')).toMatchObject({ output: 'mine\n', exitCode: 0, freshShell: false });
  });
}

for (const [shell, start] of [
  ['fish', 'fish --no-config -i'],
  ['zsh', 'zsh -f -i'],
] as const) {
  testWith(shell)(`a line typed at ${shell}, which draws it again with each key, is shown once`, async () => {
    await t.run(`HOME=${t.cwd} ${start}`, { yield: { promptMs: 300, betweenOutputMs: 5_000 } });
    const id = `f${++typed}`;
    const { at } = (await t.host.input(t.ref, { id, text: 'echo hello "$USER" it', keys: [] })) ?? { at: 0 };
    await eventually(
      () => logOf(t).toString(),
      (log) => /\n[^\n]*hello [^"\n]* it\r?\n/.test(log.slice(at)),
    );
    const snapshot = await t.host.status(t.ref);
    const { output } = await commandView({ ref: t.ref, logPath: t.host.logPath(t.ref), snapshot, from: at });
    expect(output).toMatch(/^echo hello "\$USER" it\nhello /);
  });
}

test.each([
  ['as its last word', `printf '$ '`],
  ['in colour', `printf '\\033[32muser@host\\033[0m:~$ '`],
  ['after a bracketed paste was asked for', `printf '\\033[?2004h%% '`],
  ['again and again', `for i in 1 2 3; do printf '$ \\n'; done; printf '$ '`],
])('output that ends in a prompt %s is not an end while the process sleeps', async (_name, code) => {
  const view = await t.run(`${code}; sleep 600`, { yield: { betweenOutputMs: 700, promptMs: 100 } });
  expect(view).toMatchObject({ state: 'running', exitCode: null, waiting: null, yielded: 'between_output' });
});
