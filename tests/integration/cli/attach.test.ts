// People at the terminals of sessions, each in a real terminal of their own.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopMarker } from '../../../system/processes/stop-marker';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { testEachOf } from '../../helpers/run/long-run';
import { filesWith } from '../../helpers/tools/files-with';
import { LEAVE, Person, TELL_SIZE } from '../../helpers/terminals/person';
import { testHost, type TestHost } from '../../helpers/terminals/session-host';
import { until } from '../../helpers/until';
import { holderOf } from '../exec/session-processes';

describe('without a server, with only the session', () => {
  let t: TestHost;
  beforeEach(() => (t = testHost()));
  afterEach(() => t.end());
  const attach = (...args: string[]): Person => new Person(t.dataDir, ['--agent', 'test', ...args]);
  const background = (code: string): Promise<unknown> =>
    t.run(code, { yield: { firstOutputMs: 0, betweenOutputMs: 0 } });

  test('typed text reaches the program, its output is shown, and the detach key leaves it running', async () => {
    await background('echo hello; read -r answer; echo "got $answer"; sleep 1000');
    const person = attach();
    await person.sees('attached; ctrl-] leaves');
    await person.sees('hello');
    person.types('fine\r');
    await person.sees('got fine');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
    expect(person.text).toContain('detached; the session keeps running');
    expect((await t.host.status(t.ref)).command?.endedAt).toBeNull();
  });

  test('another detach key can be chosen, and ctrl-] then reaches the program', async () => {
    await background('stty -echo; IFS= read -r -n1 key; printf "%q\\n" "$key"; stty echo; sleep 1000');
    const person = attach('--detach-key', 'ctrl-a');
    await person.sees('attached; ctrl-a leaves');
    person.types(LEAVE);
    await person.sees(String.raw`$'\035'`);
    person.types('\x01');
    expect(await person.exits()).toBe(0);
  });

  test('a terminal without a size attaches, also one that loses its size while attached', async () => {
    await background('while read -r line; do stty size; echo "read: $line"; done');
    const shell = 'tty; stty rows 0 cols 0; exec "$@"';
    const person = new Person(t.dataDir, ['--agent', 'test'], { shell });
    await person.sees('attached');
    person.types('one\r');
    await person.sees('read: one');
    expect(person.text).toContain('40 120');
    const [device = ''] = /\/dev\/\S+/.exec(person.text) ?? [];
    const setSize = (rows: string, cols: string): unknown =>
      execFileSync('stty', ['-F', device, 'rows', rows, 'cols', cols]);
    setSize('33', '101');
    await until(async () => {
      person.types('again\r');
      await new Promise((resolve) => setTimeout(resolve, 50));
      return person.text.includes('33 101');
    });
    setSize('0', '0');
    // Twice: the second is typed after the signal that the size is another was heard.
    await new Promise((resolve) => setTimeout(resolve, 200));
    person.types('two\r');
    await person.sees('read: two');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
    expect(person.text).toContain('detached');
  });

  test('whose output is redirected only watches, and leaves the keyboard to others', async () => {
    await background('while sleep 0.1; do echo tick; done');
    const elsewhere = new Person(t.dataDir, ['--agent', 'test'], { shell: '"$@" | cat' });
    await elsewhere.sees('tick');
    const person = attach();
    await person.sees('attached;');
    person.types(LEAVE);
    elsewhere.types('\x03');
    expect(await person.exits()).toBe(0);
    await elsewhere.exits();
  });

  test('ctrl-c goes to the program and not to the command line', async () => {
    await background(`bash -c 'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.02; done'`);
    const person = attach();
    await person.sees('ready');
    person.types('\x03');
    await person.sees('caught');
    await person.sees('nothing runs here now');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
    expect((await t.host.status(t.ref)).command).toMatchObject({ exitCode: 7 });
  });

  test('the end of a program and the fresh shell after it are called so, and only a reset is called a reset', async () => {
    await background('echo ready; read -r x; exit 3');
    const person = attach();
    await person.sees('ready');
    person.types('\r');
    await person.sees('the program has ended; nothing runs here now');
    await background('echo again; sleep 1000');
    await person.sees('again');
    await person.sees('a fresh shell: epoch 2');
    expect(person.text).not.toContain('reset');
    await t.host.reset(t.ref, { id: 'r', reason: null, by: 'reset' });
    await person.sees('it was reset: epoch 3');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
  });

  test('the session has the size of the person who types, also when it changes; afterwards it has the default again', async () => {
    await background(`bash -c 'while :; do ${TELL_SIZE}; sleep 0.02; done'`);
    const person = attach();
    await person.sees('24 80');
    person.resize(101, 33);
    await person.sees('33 101');
    person.types(LEAVE);
    await person.exits();
    const { end } = await t.host.status(t.ref);
    const view = await t.until({ kind: 'output', from: end - 1, timeoutMs: 30_000 });
    await until(async () =>
      (await t.until({ kind: 'idle', from: 0, timeoutMs: 2_000 })).output.endsWith('40 120\n'),
    );
    expect(view.state).toBe('running');
  });

  test('one types at a time: a second is refused, may watch, and may take the keyboard over', async () => {
    await background('while read -r line; do echo "read: $line"; done');
    const first = attach();
    await first.sees('attached');
    const refused = attach();
    expect(await refused.exits()).toBe(75);
    expect(refused.text).toContain('typist_busy');
    const watcher = attach('--watch');
    await watcher.sees('attached to watch');
    watcher.types('not typed\r');
    first.types('one\r');
    await watcher.sees('read: one');
    const second = attach('--take');
    await first.sees('types now');
    second.types('two\r');
    await Promise.all([first, second, watcher].map((person) => person.sees('read: two')));
    first.types('three\r');
    await first.sees('\x07');
    for (const person of [first, second, watcher]) person.types(LEAVE);
    await Promise.all([first, second, watcher].map((person) => person.exits()));
    expect(watcher.text).not.toContain('not typed');
    expect(first.text).not.toContain('read: three');
  });

  test('a person who attaches later finds the screen as a full-screen program has drawn it, inert', async () => {
    await background(
      String.raw`printf '\e[?1049h\e[2J\e[5;10Hmenu\e]52;c;aGFja2Vk\a\e]0;title\a'; read -r -s _; printf '\e[?1049l'`,
    );
    await t.until({ kind: 'needs_input', from: 0, timeoutMs: 30_000 });
    const person = attach();
    await person.sees('menu');
    expect(person.text).toContain('\x1b[?1049h');
    expect(person.text).not.toMatch(/aGFja2Vk|title/);
    person.types(LEAVE);
    await person.exits();
    expect(person.text).toContain('\x1b[?1049l');
  });

  test('a person who watches a flood gets its last line', async () => {
    await background('sleep 0.5; yes 0123456789 | head -c 3000000; echo; echo the end');
    const person = attach('--watch');
    await person.sees('attached');
    await person.sees('the end');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
  });

  testEachOf(
    [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as [NodeJS.Signals, number][],
    ([signal]) => signal === 'SIGHUP',
  )(
    '%s means leaving: the session keeps running, and the exit code names the signal',
    async (signal, code) => {
      await background('sleep 1000');
      const person = attach();
      await person.sees('attached');
      person.signals(signal);
      expect(await person.exits()).toBe(code);
      expect(person.text).toContain('detached; the session keeps running');
      expect((await t.host.status(t.ref)).command?.endedAt).toBeNull();
    },
  );

  test('--json gives text of any language whole, however it is split, and each size that the terminal gets', async () => {
    await background(
      String.raw`until read -r -t 0.1; do printf .; done; printf '\345'; sleep 0.3; printf '\255'; sleep 0.3; printf '\227!'; sleep 1000`,
    );
    const reader = attach('--json');
    await reader.sees('"output":"."');
    const person = attach();
    await reader.sees('"cols":80');
    person.resize(101, 33);
    await reader.sees('"size":{"cols":101,"rows":33}');
    person.types('\r');
    await reader.sees('字');
    await reader.sees('!');
    expect(reader.text).not.toContain('\ufffd');
    for (const each of [person, reader]) each.types(each === person ? LEAVE : '\x03');
    expect([await person.exits(), await reader.exits()]).toEqual([0, 130]);
  });

  test('the end of the session ends the attachment', async () => {
    await background('sleep 1000');
    const person = attach();
    await person.sees('attached');
    await t.host.close(t.ref, 'enough');
    expect(await person.exits()).toBe(0);
    expect(person.text).toContain('the terminal is gone');
  });

  test('a session that does not answer is reported to people who are attached or attach, and continues without them', async () => {
    await background('echo hello; sleep 1000');
    const person = attach();
    await person.sees('hello');
    const pid = holderOf(t);
    process.kill(pid, 'SIGSTOP');
    try {
      const late = attach();
      for (const each of [person, late]) {
        expect(await each.exits()).toBe(75);
        expect(each.text).toContain('session_unreachable');
        expect(each.text).toContain(`kill -CONT ${pid}`);
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const again = attach();
    await again.sees('attached;');
    again.types(LEAVE);
    expect(await again.exits()).toBe(0);
  });

  testEachOf([['</dev/null'], ['< <(echo words)'], ['<&-']], ([input]) => input === '<&-')(
    'with %s in the place of a terminal it is refused at once, and says what to do',
    async (input) => {
      await t.run(':');
      const shell = `exec bash -c 'exec "$@" ${input}' bash "$@"`;
      const nobody = new Person(t.dataDir, ['--agent', 'test'], { shell });
      expect(await nobody.exits()).toBe(64);
      expect(nobody.text).toContain('invalid_input');
      expect(nobody.text).toContain('--watch');
    },
  );

  test('without a terminal --watch follows what runs, to the end of the session', async () => {
    await background('while sleep 0.1; do echo words; done');
    const watcher = new Person(t.dataDir, ['--agent', 'test', '--watch'], { shell: 'exec "$@" </dev/null' });
    await watcher.sees('words');
    await t.host.close(t.ref, 'enough');
    expect(await watcher.exits()).toBe(0);
  });

  testEachOf(
    [
      ['a session that was never opened', ['--session', '9'], 66, 'not_found'],
      ['a key that is none', ['--detach-key', 'x'], 64, 'invalid_input'],
      ['a host elsewhere, where no server says of it', ['--host', 'far'], 69, 'no_server'],
    ] as [string, string[], number, string][],
    ([, , code]) => code === 69,
  )('%s is refused with code and next step', async (_, args, code, name) => {
    const person = attach(...args);
    expect(await person.exits()).toBe(code);
    expect(person.text).toContain(name);
    expect(person.text).toContain('Next:');
  });
});

describe('with a server', () => {
  const engine = new EngineOfItsOwn();
  let cwd: string;
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'holdfast-attach-'));
    await engine.start();
  }, 60_000);
  afterAll(async () => {
    expect(await engine.end()).toEqual([]);
    rmSync(cwd, { recursive: true, force: true });
  }, 60_000);

  test('attach --run gives the terminal to a person and passes the exit code on; a password they type is in no file', async () => {
    const person = new Person(
      engine.dataDir,
      ['--run', 'read -r -s -p "password: " p; echo; echo "${#p}"; exit 5'],
      { cwd },
    );
    await person.sees('password: ');
    await until(
      async () =>
        (await engine.client.session({ agent: 'cli', session: 0 }).output({ wait: 'needs_input' })).waiting
          ?.echo === false,
    );
    person.types('correct-horse-battery\r');
    expect(await person.exits()).toBe(5);
    expect(person.text).toContain('21');
    const { workflowId } = engine.client.session({ agent: 'cli', session: 0 });
    const history = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
    const payloads = [...JSON.stringify(history).matchAll(/"data":"([^"]*)"/g)]
      .map(([, data]) => Buffer.from(data ?? '', 'base64').toString('utf8'))
      .join('\n');
    expect(payloads).toContain('read -r -s');
    expect(payloads).not.toContain('correct-horse');
    // The control: what was run is found by the same search.
    expect(filesWith('read -r -s -p', engine.dataDir)).not.toBe('');
    expect(filesWith('correct-horse', engine.dataDir)).toBe('');
  });

  test('leaving attach --run leaves the command running', async () => {
    const person = new Person(engine.dataDir, ['--session', '1', '--run', 'echo begun; sleep 1000'], { cwd });
    await person.sees('begun');
    person.types(LEAVE);
    expect(await person.exits()).toBe(0);
    expect(await engine.client.session({ agent: 'cli', session: 1 }).output()).toMatchObject({
      state: 'running',
    });
  });

  test('a signal ends attach --run and leaves the command running', async () => {
    const person = new Person(engine.dataDir, ['--session', '3', '--run', 'echo begun; sleep 1000'], { cwd });
    await person.sees('begun\r');
    person.signals('SIGTERM');
    expect(await person.exits()).toBe(143);
    expect(person.text).toContain('detached; the command keeps running');
    expect(await engine.client.session({ agent: 'cli', session: 3 }).output()).toMatchObject({
      state: 'running',
    });
  });

  test('attach --run that is refused the keyboard runs nothing; with --take it runs', async () => {
    const session = engine.client.session({ agent: 'cli', session: 4 });
    await session.exec({ code: 'echo here' });
    const first = new Person(engine.dataDir, ['--session', '4'], { cwd });
    await first.sees('attached');
    const code = `echo ran >> ${join(cwd, 'ran')}; exit 6`;
    const second = new Person(engine.dataDir, ['--session', '4', '--run', code], { cwd });
    expect(await second.exits()).toBe(75);
    expect(second.text).toContain('typist_busy');
    // What was sent before is run before.
    await session.exec({ code: 'echo after' });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
    const third = new Person(engine.dataDir, ['--session', '4', '--take', '--run', code], { cwd });
    expect(await third.exits()).toBe(6);
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    first.types(LEAVE);
    await first.exits();
  });

  test('a person can keep typing while the worker is dead', async () => {
    const person = new Person(
      engine.dataDir,
      ['--session', '2', '--run', 'read -r a; read -r b; echo "$a $b"; exit 3'],
      { cwd },
    );
    await until(
      async () =>
        (
          await engine.client
            .session({ agent: 'cli', session: 2 })
            .output()
            .catch(() => undefined)
        )?.state === 'waiting_input',
    );
    person.types('one\r');
    await engine.killWorker();
    person.types('two\r');
    await person.sees('one two');
    expect(await person.exits()).toBe(3);
  });

  test('a person whose engine is stopped gets their terminal back, and reads on it why', async () => {
    const code = String.raw`printf '\e[?1049h\e[?1000hmenu'; sleep 1000`;
    const person = new Person(engine.dataDir, ['--session', '5', '--run', code], { cwd });
    await person.sees('menu');
    const marker = stopMarker(engine.dataDir);
    writeFileSync(marker, '');
    expect(await person.exits()).toBe(75);
    rmSync(marker);
    const [, after = ''] = person.text.split('\x1b[?1049l');
    expect(after).toContain('\x1b[?1000l');
    expect(after).toContain('engine_stopped');
  });
});
