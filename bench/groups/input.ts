// From typing to visible output: through an input's update and its answer, and through a person's own terminal.
import * as pty from 'node-pty';
import { Attachment } from '../../exec/attach/attachment';
import { logEnd, readLog } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import { explaining, inTurn, median, timed, type Pair, type Row } from '../measure';
import { bareSession, uniqueId, until, type Bench } from '../setting';

const ROUNDS = 40;
const KEYSTROKES = 200;
const PROGRAM = 'while read -r l; do echo "got $l"; done';

export async function input(bench: Bench): Promise<Row[]> {
  const ref = { agent: uniqueId('input'), host: 'local', session: 0 };
  const session = bench.client.session(ref);
  await session.exec({ code: PROGRAM });
  const { seen, answered } = await byUpdate(bench, ref);
  const typed = await byAttachment(bench, ref);
  await session.close('measured');
  return [
    explaining('input to visible output / update -> activity -> result', seen),
    explaining('- to the answer, which says that the program waits again', answered),
    explaining('attached: typed to read from the log / bare node-pty', typed),
  ];
}

type Ref = Parameters<typeof sessionPaths>[1];

async function byUpdate(bench: Bench, ref: Ref): Promise<{ seen: Pair; answered: Pair }> {
  const session = bench.client.session(ref);
  const { log } = sessionPaths(bench.dataDir, ref);
  const bare = bench.client.temporal.workflow.getHandle(await bareSession(bench));
  const toLog: number[] = [];
  const ours = (): Promise<number> =>
    timed(async () => {
      const [began, end] = [performance.now(), logEnd(log)];
      const keyboard = uniqueId('line');
      const answer = session.input({ keyboard });
      await until(() => readLog(log, end, logEnd(log)).includes(`got ${keyboard}`), 1);
      toLog.push(performance.now() - began);
      if (!(await answer).output.includes(`got ${keyboard}`))
        throw new Error('the answer lacks the reaction');
    });
  const base = (): Promise<number> => timed(() => bare.executeUpdate('exec', { args: [{ code: 'true' }] }));
  await inTurn(5, ours, base);
  toLog.length = 0;
  const answered = await inTurn(ROUNDS, ours, base);
  await bare.signal('end');
  return { seen: { ours: median(toLog), base: answered.base }, answered };
}

async function byAttachment({ dataDir }: Bench, ref: Ref): Promise<Pair> {
  const attachment = await Attachment.open(dataDir, ref, {
    typist: { who: 'the bench', take: true },
    size: null,
  });
  const output = outputOf(attachment);
  const bare = await bareTerminal();
  const ours = (): Promise<number> =>
    timed(() => output.reacts((line) => attachment.type(Buffer.from(line))));
  const base = (): Promise<number> => timed(() => bare.reacts((line) => bare.write(line)));
  await inTurn(20, ours, base);
  const result = await inTurn(KEYSTROKES, ours, base);
  attachment.close();
  bare.end();
  return result;
}

/** Output that arrives in pieces, and a waiter for a reaction in it. */
class Output {
  private text = '';
  private waiting: { text: string; seen: () => void } | null = null;

  push(data: Buffer): void {
    this.text += data.toString('latin1');
    if (!this.waiting || !this.text.includes(this.waiting.text)) return;
    this.text = '';
    this.waiting.seen();
  }

  /** Types a line, and resolves when the program's reaction to it is here. */
  async reacts(type: (line: string) => unknown): Promise<void> {
    const line = uniqueId('key');
    const seen = new Promise<void>((resolve) => (this.waiting = { text: `got ${line}`, seen: resolve }));
    await Promise.all([type(`${line}\r`), seen]);
  }
}

function outputOf(attachment: Attachment): Output {
  const output = new Output();
  void (async () => {
    for await (const change of attachment.changes(attachment.state.end))
      if (change.kind === 'output') output.push(change.data);
  })();
  return output;
}

async function bareTerminal(): Promise<Output & { write: (line: string) => void; end: () => void }> {
  const terminal = pty.spawn('bash', ['-c', PROGRAM], { encoding: null, cols: 120, rows: 40 });
  const output = new Output();
  terminal.onData((data) => output.push(data as unknown as Buffer));
  return Object.assign(output, {
    write: (line: string) => terminal.write(line),
    end: () => terminal.kill('SIGKILL'),
  });
}
