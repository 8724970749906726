// A client's session that works through its steps, whatever fails meanwhile.
import type { SessionHandle } from '../../../client/session-handle';
import type { ExecRequest } from '../../../contracts/schemas/session';
import type { CommandView } from '../../../contracts/sessions/session';
import { logEnd, readLog } from '../../../exec/output/log-reader';
import { sessionPaths } from '../../../exec/session-paths';
import type { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { patiently } from './patiently';
import type { Recorder } from './recorder';
import type { SessionStep, WorkerPlan } from './schedule';

/** Commands answer at their end; a fault may still make one answer earlier. */
const LATE = { firstOutputMs: 60_000, betweenOutputMs: 60_000, maxMs: 60_000 };
const SOON = { firstOutputMs: 100, betweenOutputMs: 100, maxMs: 200, promptMs: 50 };
const PAGE_BYTES = 100_000;
/** What ends a program that reads. */
const END = 'end';

type StepOf<Kind extends SessionStep['kind']> = Extract<SessionStep, { kind: Kind }>;

export class SessionWorker {
  readonly session: SessionHandle;
  private readonly asked: { id: string; request: ExecRequest; view: CommandView }[] = [];

  constructor(
    private readonly engine: EngineOfItsOwn,
    private readonly recorder: Recorder,
    private readonly plan: Extract<WorkerPlan, { kind: 'session' }>,
  ) {
    this.session = engine.client.session({ agent: plan.id, session: 0 }, { cwd: recorder.folder });
  }

  async work(): Promise<void> {
    for (const step of this.plan.steps) await this.take(step);
  }

  effects(): string[] {
    return this.plan.steps.flatMap((step) => {
      if (step.kind === 'typed') return step.inputs;
      return step.kind === 'script' ? step.calls : [step.id];
    });
  }

  ofTools(): string[] {
    return this.plan.steps.flatMap((step) => (step.kind === 'script' ? step.calls : []));
  }

  /** Asks for each command again, which must run nothing and answer the same. */
  async repeat(): Promise<void> {
    for (const { id, request, view } of this.asked) {
      const again = await this.ask(id, () => this.session.exec({ ...request, id }, `${id}-again`)).catch(
        String,
      );
      const answer = typeof again === 'string' ? again : summary(again);
      this.recorder.history.repeated.push({ id, first: summary(view), again: answer });
    }
  }

  /** Adds what the log has of the lines that its commands printed. */
  readLog(): void {
    const { log } = sessionPaths(this.engine.dataDir, this.session.ref);
    const text = logEnd(log) > 0 ? readLog(log, 0, logEnd(log)).toString('latin1') : '';
    for (const printed of this.recorder.history.printed) {
      if (printed.id.startsWith(`${this.plan.id}.`)) printed.numbers = numbersIn(text, '\r\n', printed.id);
    }
  }

  async close(): Promise<void> {
    await this.ask('close', () => this.session.close('the schedule has ended'));
    await this.session.closed();
  }

  private take(step: SessionStep): Promise<void> {
    switch (step.kind) {
      case 'command':
        return this.command(step);
      case 'print':
        return this.print(step);
      case 'typed':
        return this.typed(step);
      case 'script':
        return this.script(step);
      case 'reset':
        return this.reset(step);
    }
  }

  private async command({ id, beforeMs, afterMs, exit }: StepOf<'command'>): Promise<void> {
    const code = `sleep ${beforeMs / 1_000}; ${this.effect(id)}; sleep ${afterMs / 1_000}; (exit ${exit})`;
    await this.run(id, code, exit);
  }

  private async print({ id, lines }: StepOf<'print'>): Promise<void> {
    const code = `for ((i = 1; i <= ${lines}; i++)); do echo "${id} $i"; done; ${this.effect(id)}`;
    const view = await this.run(id, code, 0);
    const isWhole = view?.state === 'exited' && view.exitCode === 0;
    const told = isWhole ? await this.readPages(id, view) : undefined;
    this.recorder.history.printed.push({ id, planned: lines, isWhole, numbers: [], ...(told && { told }) });
  }

  private async readPages(id: string, { from, to }: CommandView): Promise<number[]> {
    let text = '';
    for (let offset = from; offset < to;) {
      const request = { from: offset, maxBytes: PAGE_BYTES };
      const page = await this.ask(id, () => this.session.output(request));
      text += page.output;
      offset = page.to;
    }
    return numbersIn(text, '\n', id);
  }

  private async typed({ id, inputs }: StepOf<'typed'>): Promise<void> {
    const code = `while read -r x && [ "$x" != ${END} ]; do echo "$x" >> ${this.recorder.effectsFile}; done`;
    const request = { code, yield: SOON };
    const view = await this.answerOf(id, () => this.session.exec(request, id));
    const accepted = new Map<string, unknown>();
    if (view && isOpen(view)) {
      for (const input of [...inputs, END]) {
        const typing = this.ask(input, () =>
          this.session.input({ keyboard: input, yield: SOON }, `${id}-${input}`),
        );
        accepted.set(input, await typing.then(() => undefined).catch((err: unknown) => err));
      }
    }
    const ended = view && (await this.untilEnd(id, view));
    if (ended) this.asked.push({ id, request, view: ended });
    const isWhole = ended?.state === 'exited' && ended.exitCode === 0;
    for (const input of inputs) {
      const failure = accepted.get(input);
      if (failure !== undefined) this.recorder.reportFailure(input, failure);
      else if (!accepted.has(input)) this.recorder.tell(input, 'refused', 'not typed');
      else this.recorder.tell(input, isWhole ? 'done' : 'possible', ended ? summary(ended) : 'no end');
    }
  }

  private async script({ id, calls, callMs }: StepOf<'script'>): Promise<void> {
    const code = `import codex_tools
for i in ${JSON.stringify(calls)}:
  try:
    codex_tools.effect_once(file="${this.recorder.effectsFile}", id=i, ms=${callMs})
    told = "done"
  except codex_tools.ToolError as e:
    told = e.code
  with open("${this.recorder.toldFile}", "a") as f: f.write(f"{i} {told}\\n")`;
    const request: ExecRequest = { runtime: 'python', code, yield: LATE };
    const first = await this.answerOf(id, () => this.session.exec(request, id));
    const view = first && (await this.untilEnd(id, first));
    if (view) this.asked.push({ id, request, view });
    const isWhole = view?.state === 'exited' && view.exitCode === 0;
    if (view?.state === 'exited' && !isWhole) this.odd(id, view);
    const told = new Map(
      this.recorder.linesOf(this.recorder.toldFile).map((line) => line.split(' ') as [string, string]),
    );
    for (const call of calls) {
      const code = told.get(call);
      if (code === 'done') this.recorder.tell(call, 'done', 'the script goes on');
      else if (code !== undefined) this.recorder.tellCode(call, code);
      else this.recorder.tell(call, 'untold', view ? summary(view) : 'no end');
      if (code === undefined && isWhole) this.recorder.history.odd.push(`${call}: the script was not told`);
    }
  }

  private async reset({ id, beforeMs }: StepOf<'reset'>): Promise<void> {
    const late = `${id}.late`;
    const code = `sleep ${beforeMs / 1_000}; ${this.effect(id)}; sleep 1000; ${this.effect(late)}`;
    const view = await this.answerOf(id, () => this.session.exec({ code, yield: SOON }, id));
    const reset = await this.answerOf(id, () => this.session.reset({ reason: 'too long' }, `${id}-reset`));
    this.recorder.tell(id, 'possible', view ? summary(view) : 'no answer');
    // Of a lost command nobody knows how far it came: its holder was killed, and its shell may have ended after its program.
    const outcome = reset?.state === 'lost' ? 'possible' : 'refused';
    this.recorder.tell(late, outcome, reset ? summary(reset) : 'no answer');
  }

  /** Runs a command to its end and records what was told of the effect with its id. */
  private async run(id: string, code: string, exit: number): Promise<CommandView | undefined> {
    const request = { code, yield: LATE };
    try {
      const view = await this.untilEnd(id, await this.ask(id, () => this.session.exec(request, id)));
      this.asked.push({ id, request, view });
      const isDone = view.state === 'exited' && view.exitCode === exit;
      if (view.state === 'exited' && !isDone) this.odd(id, view);
      this.recorder.tell(id, isDone ? 'done' : 'possible', summary(view));
      return view;
    } catch (err) {
      this.recorder.reportFailure(id, err);
      return undefined;
    }
  }

  private async untilEnd(id: string, first: CommandView): Promise<CommandView> {
    let view = first;
    while (isOpen(view)) view = await this.ask(id, () => this.session.output({ wait: 'exit' }));
    if (view.commandId !== id) this.recorder.history.odd.push(`${id}: got the end of ${view.commandId}`);
    return view;
  }

  private answerOf(id: string, ask: () => Promise<CommandView>): Promise<CommandView | undefined> {
    return this.ask(id, ask).catch((err: unknown) => {
      this.recorder.note(`${id} failed: ${String(err)}`);
      return undefined;
    });
  }

  private ask<T>(id: string, ask: () => Promise<T>): Promise<T> {
    return patiently(ask, (err) => this.recorder.note(`${id} asked in vain: ${String(err)}`));
  }

  private odd(id: string, view: CommandView): void {
    this.recorder.history.odd.push(`${id}: ${summary(view)} ${view.output.slice(-500)}`);
  }

  private effect(id: string): string {
    return `echo ${id} >> ${this.recorder.effectsFile}`;
  }
}

const isOpen = ({ state }: CommandView): boolean => state === 'running' || state === 'waiting_input';

const summary = ({ state, exitCode, killedBy, from, to }: CommandView): string =>
  `${state}, exit code ${exitCode}${killedBy ? `, by ${killedBy.by}` : ''}, ${from} to ${to}`;

/** The numbers of the whole lines that a command printed, in order. */
const numbersIn = (text: string, newLine: string, id: string): number[] =>
  text
    .split(newLine)
    .slice(0, -1)
    .flatMap((line) => {
      const [name, number, ...rest] = line.split(' ');
      return name === id && rest.length === 0 && /^\d+$/.test(number ?? '') ? [Number(number)] : [];
    });
