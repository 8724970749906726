// What every implementation of the port `Terminals` guarantees.
import type { SessionRef } from '../../contracts/ids';
import { DEFAULT_YIELD } from '../../contracts/sessions/session';
import { commandView } from '../../exec/host/command-view';
import type { ObserveReason, Snapshot } from '../../exec/protocol';
import type { Terminals } from '../../exec/terminals';
import type { SimulatedCommands } from '../../testing';

/** The commands of the suite, as a shell understands them and as a simulated host answers them. */
const HELLO = 'echo hello';
const FAILS = '(exit 3)';
const HANGS = 'sleep 1000';
const ASKS = 'read -r first; read -r second; echo "got $first $second"';
const TALKS = 'read -r name; echo "hello $name"; sleep 1000';
export const ANSWERS: SimulatedCommands = {
  [HELLO]: 'hello\n',
  [FAILS]: { exitCode: 3 },
  [HANGS]: { hangs: true },
  [ASKS]: {
    onInput: (first) => ({ onInput: (second) => `got ${first} ${second}\n` }),
  },
  [TALKS]: { onInput: (name) => ({ output: `hello ${name}\n`, hangs: true }) },
};

export interface Opened {
  terminals: Terminals;
  end(): Promise<void> | void;
}

/** What an implementation does otherwise, knowingly. */
export interface Differences {
  /** No process owns its sessions: they are open from the start, never listed, and keep no folder. */
  ownsNoProcess?: true;
  /** A command that does not end yields at once, so that no test waits. */
  yieldsAtOnce?: true;
}

const WAIT_MS = 20_000;

export function conformsToTerminals(name: string, open: () => Opened, differences: Differences = {}): void {
  describe(name, () => {
    let opened: Opened;
    let terminals: Terminals;
    let ref: SessionRef;
    let sessions = 0;
    let ids = 0;
    beforeAll(() => {
      opened = open();
      terminals = opened.terminals;
    });
    afterAll(() => opened.end());
    beforeEach(() => (ref = { agent: 'test', host: 'local', session: sessions++ }));
    afterEach(async () => {
      await terminals.close(ref, 'the test has ended');
    });

    const run = (code: string, id = `c${++ids}`): Promise<Snapshot> =>
      terminals.run(ref, { id, runtime: 'terminal', code });
    const wait = async (
      kind: 'exit' | 'output' | 'needs_input',
      from = 0,
      timeoutMs = WAIT_MS,
    ): Promise<Snapshot & { reason: ObserveReason }> => {
      const { reason, snapshot } = await terminals.observe(ref, { kind, from, timeoutMs });
      return { ...snapshot, reason };
    };
    const finished = async (code: string, id?: string): Promise<Snapshot> => {
      await run(code, id);
      return wait('exit');
    };
    const type = (text: string, id = `i${++ids}`): ReturnType<Terminals['input']> =>
      terminals.input(ref, { id, text, keys: [] });
    const output = async (from: number | null = null): Promise<string> => {
      const snapshot = await terminals.status(ref);
      const view = await commandView({ ref, logPath: terminals.logPath(ref), snapshot, from });
      return view.output.replaceAll('\r', '');
    };
    const refused = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'done',
        (err: Error & { code?: string }) => err.code ?? err.message,
      );

    describe('a command', () => {
      test('ends with its exit code and is recorded under its id', async () => {
        expect((await finished(FAILS, 'fails')).command).toMatchObject({
          id: 'fails',
          exitCode: 3,
          killedBy: null,
        });
        expect(terminals.commandRecord(ref, 'fails')).toMatchObject({ exitCode: 3, lost: false });
        expect(terminals.commandRecord(ref, 'another')).toBeUndefined();
      });

      test('has its output between two offsets of the log, which later commands continue', async () => {
        const first = await finished(HELLO);
        expect(await output()).toBe('hello\n');
        const second = await finished(HELLO);
        expect(second.command?.from).toBeGreaterThanOrEqual(first.command?.to ?? Infinity);
        expect(await output()).toBe('hello\n');
        expect((await output(first.command?.from ?? 0)).match(/hello/g)).toHaveLength(2);
        expect(await output(second.end)).toBe('');
        expect(await refused(output(second.end + 1))).toBe('offset_out_of_range');
      });

      test('that is repeated under its id runs nothing twice and answers with its record', async () => {
        const { command, end } = await finished(HELLO, 'again');
        await finished(FAILS);
        expect((await run(HELLO, 'again')).command).toEqual(command);
        expect((await wait('exit')).command?.exitCode).toBe(3);
        expect((await output(end)).includes('hello')).toBe(false);
      });

      test('with another content under the same id is refused, and not run', async () => {
        const { command } = await finished(HELLO, 'other');
        expect(await refused(run(FAILS, 'other'))).toBe('id_conflict');
        expect((await terminals.status(ref)).command).toEqual(command);
      });

      test('is refused as busy while another runs, whose repetition is not', async () => {
        await run(HANGS, 'long');
        expect(await refused(run(HELLO, 'second'))).toBe('busy');
        expect(terminals.commandRecord(ref, 'second')).toBeUndefined();
        expect((await run(HANGS, 'long')).command).toMatchObject({ id: 'long', endedAt: null });
      });
    });

    describe('a command that must not begin any more', () => {
      const over = {
        mayBegin: () => {
          throw new Error('over');
        },
      };
      test('opens no terminal and leaves no record', async () => {
        expect(
          await refused(terminals.run(ref, { id: 'late', runtime: 'terminal', code: HELLO, ...over })),
        ).toBe('over');
        expect(terminals.commandRecord(ref, 'late')).toBeUndefined();
        if (!differences.ownsNoProcess)
          expect(await refused(terminals.open(ref, null, over.mayBegin))).toBe('over');
        expect(terminals.isClosed(ref)).toBe(true);
      });

      test('answers with its record if it has begun', async () => {
        const { command } = await finished(HELLO, 'begun');
        const again = terminals.run(ref, { id: 'begun', runtime: 'terminal', code: HELLO, ...over });
        expect((await again).command).toEqual(command);
      });
    });

    describe('an input', () => {
      test('to a session in which nothing runs is refused', async () => {
        await finished(HELLO);
        expect(await refused(type('x'))).toBe('no_running_process');
      });

      test('reaches the program that runs, and once if it is repeated under its id', async () => {
        await run(ASKS);
        await wait('needs_input');
        const first = await type('one', 'typed');
        expect((await type('one', 'typed'))?.at).toBe(first?.at);
        await type('two');
        expect((await wait('exit')).command?.exitCode).toBe(0);
        expect(await output()).toContain('got one two');
      });
    });

    describe('an answer to a prompt', () => {
      const asked = async (): Promise<{ command: string; since: string }> => {
        const { command, waiting } = await wait('needs_input');
        return { command: command?.id ?? '', since: waiting?.since ?? '' };
      };
      const answer = (text: string, prompt: { command: string; since: string }, id = `i${++ids}`) =>
        terminals.input(ref, { id, text, keys: [], prompt });

      test('is typed once: another one that comes after it reaches no later prompt of the program', async () => {
        await run(ASKS);
        const first = await asked();
        await answer('one', first, 'first');
        expect(await refused(answer('boom', first))).toBe('prompt_over');
        const second = await asked();
        expect(await refused(answer('boom', first))).toBe('prompt_over');
        expect(await refused(answer('one', first, 'first'))).toBe('done');
        await answer('two', second);
        await wait('exit');
        expect(await output()).toContain('got one two');
      });

      test('reaches no other command', async () => {
        await run(TALKS);
        const first = await asked();
        await terminals.reset(ref, { id: 'next', reason: null, by: 'reset' });
        await run(ASKS);
        await wait('needs_input');
        expect(await refused(answer('boom', first))).toBe('prompt_over');
      });
    });

    describe('a wait', () => {
      test('ends with the command, and at once if it has ended', async () => {
        await run(TALKS);
        const ends = wait('exit');
        await terminals.reset(ref, { id: 'ends', reason: null, by: 'reset' });
        expect((await ends).reason).toBe('exit');
        expect((await wait('output')).reason).toBe('exit');
      });

      test('for output ends when there is some beyond the offset', async () => {
        await run(TALKS);
        const { end } = await wait('needs_input');
        const said = wait('output', end);
        await type('Ada');
        expect((await said).reason).toBe('output');
        expect((await said).end).toBeGreaterThan(end);
      });

      test('for a prompt ends when the program waits for input', async () => {
        await run(TALKS);
        expect(await wait('needs_input')).toMatchObject({ reason: 'waiting_input', waiting: { echo: true } });
      });

      test('ends after its time, and with the reason of its signal, also of one that has aborted before', async () => {
        await run(HANGS);
        expect((await wait('exit', 0, 20)).reason).toBe('timeout');
        const abort = new AbortController();
        const waits = terminals.observe(ref, { kind: 'exit', from: 0, timeoutMs: WAIT_MS }, abort.signal);
        const enough = new Error('enough');
        abort.abort(enough);
        await expect(waits).rejects.toBe(enough);
        const late = terminals.observe(ref, { kind: 'exit', from: 0, timeoutMs: WAIT_MS }, abort.signal);
        await expect(late).rejects.toBe(enough);
      });

      test(`of a caller ends ${differences.yieldsAtOnce ? 'at once' : 'after its silence'} while a command runs`, async () => {
        await run(HANGS);
        const settings = { ...DEFAULT_YIELD, firstOutputMs: 50 };
        const { reason } = await terminals.observe(ref, { kind: 'yield', settings });
        expect(reason).toBe(differences.yieldsAtOnce ? 'max' : 'first_output');
      });
    });

    describe('a reset', () => {
      const reset = (id: string): Promise<Snapshot> =>
        terminals.reset(ref, { id, reason: 'enough', by: 'reset' });

      test('ends what runs, says who and why, and begins an epoch with a fresh shell', async () => {
        const { epoch } = await run(HANGS);
        const { command } = await reset('r1');
        expect(command).toMatchObject({ exitCode: null, killedBy: { by: 'reset', reason: 'enough' } });
        expect((await finished(HELLO)).command).toMatchObject({ epoch: epoch + 1, freshShell: true });
      });

      test('that is repeated under its id ends nothing', async () => {
        await run(HANGS);
        await reset('r1');
        await run(HANGS);
        expect((await reset('r1')).command).toMatchObject({ endedAt: null });
      });
    });

    describe('closing', () => {
      test('ends what runs; the log and the records stay, and a known id runs nothing', async () => {
        await finished(HELLO, 'before');
        await run(HANGS, 'during');
        await terminals.close(ref, 'done');
        expect(terminals.commandRecord(ref, 'during')?.killedBy).toEqual({ by: 'closed', reason: 'done' });
        expect(await output(0)).toContain('hello');
        expect((await run(HELLO, 'before')).command?.id).toBe('before');
        expect(await refused(run(FAILS, 'before'))).toBe('id_conflict');
      });

      test('is followed by a new epoch', async () => {
        const { epoch } = await finished(HELLO);
        await terminals.close(ref, null);
        expect((await finished(HELLO)).epoch).toBe(epoch + 1);
      });
    });

    const isOwned = !differences.ownsNoProcess;
    test(`a session is ${isOwned ? 'listed and open from its first command until it is closed' : 'never listed or open'}`, async () => {
      const seen = (): unknown => ({
        listed: terminals.list().some((one) => one.session === ref.session),
        exists: terminals.exists(ref),
        open: [terminals.isOpen(ref), !terminals.isClosed(ref)],
      });
      expect(seen()).toEqual({ listed: false, exists: false, open: [false, false] });
      await finished(HELLO);
      expect(seen()).toEqual({ listed: isOwned, exists: isOwned, open: [isOwned, isOwned] });
      await terminals.close(ref, null);
      expect(seen()).toEqual({ listed: isOwned, exists: isOwned, open: [false, false] });
    });

    test(`an input to a session that was never opened ${isOwned ? 'finds no terminal' : 'finds nothing that runs'}`, async () => {
      expect(await refused(type('x'))).toBe(isOwned ? 'done' : 'no_running_process');
      if (isOwned) expect(await type('x')).toBeUndefined();
    });

    test('a session without scripts has no calls, and an answer to none does nothing', async () => {
      expect(await terminals.toolCalls(ref, 0, new AbortController().signal)).toBeUndefined();
      const answer = { callId: 'e1c1', ok: true as const, value: null };
      await terminals.answerCall(ref, { id: 'e1c1', answer });
    });
  });
}
