// A conversation in a terminal: messages and steps scroll by, the status is below them, and the person can type at any
// time.
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { FollowPlace } from '../../client/agents/follow-agent';
import { followTokens } from '../../client/agents/live-tokens';
import type { AgentResult, AgentState, Message } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { parseSessionWorkflowId } from '../../contracts/ids';
import type { CliContext } from '../open-context';
import { draw } from '../terminal/guarded-output';
import { inert } from '../terminal/inert-text';
import { printMessage } from '../print/print-message';
import { reportError } from '../print/report-error';
import { columnsOf, note, notesThrough, styled } from '../terminal/terminal-style';
import { errorOf, resultText } from '../print/turn-result';
import { allWork } from '../print/work';
import { runChatCommand, COMMANDS, type CommandedChat } from './chat-commands';
import { ChatScreen } from './chat-screen';
import { addToHistory, readHistory } from './history-file';
import { LiveReply } from './live-reply';
import type { ChatOptions } from './open-conversation';
import { cut, plainText } from './plain-lines';
import { newStatus, sawMessage, statusLines, type ChatStatus } from './status-lines';

const DRAW_MS = 100;
const LOOK_MS = 1_000;
const RETRY_MS = 1_000;
/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 2_000;
/** How many earlier messages a person who joins is shown. */
const EARLIER_MESSAGES = 20;
const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

export class TerminalChat implements CommandedChat {
  private readonly screen: ChatScreen;
  private readonly reply = new LiveReply();
  status: ChatStatus;
  /** Whether the conversation is over, also where it could not say so itself. */
  isOver = false;
  private left!: (code: number) => void;
  private lastInterrupt = 0;
  /** Stops watching this conversation, when the chat switches to another. */
  private watching = new AbortController();

  constructor(
    readonly context: CliContext,
    readonly options: ChatOptions,
    public agent: AgentHandle,
  ) {
    this.status = newStatus(agent.id);
    this.screen = new ChatScreen(
      {
        onMessage: (text) => void this.take(text),
        onInterrupt: (hasText) => this.onInterrupt(hasText),
        onEnd: () => this.leave(0),
        now: () => this.now(),
        complete: (line) => COMMANDS.filter(({ name }) => name.startsWith(line)).map(({ name }) => name),
      },
      () => readHistory(context.dataDir),
    );
  }

  /** Until the person leaves or the conversation has ended; the exit code. */
  async run(): Promise<number> {
    const over = new Promise<number>((resolve) => (this.left = resolve));
    const onSignal = (signal: NodeJS.Signals): void => this.leave(128 + constants.signals[signal]);
    // Other code may end the process its own way: give the terminal back regardless.
    const onExit = (): void => this.screen.close();
    for (const signal of SIGNALS) process.once(signal, onSignal);
    process.once('exit', onExit);
    notesThrough((write) => this.screen.print(write));
    this.watch();
    this.screen.open();
    const drawing = setInterval(() => this.screen.refresh(), DRAW_MS);
    try {
      return await over;
    } finally {
      clearInterval(drawing);
      this.watching.abort();
      notesThrough(null);
      this.screen.close();
      process.off('exit', onExit);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }
  }

  get state(): AgentState | null {
    return this.status.state;
  }

  leave(code: number): void {
    this.left(code);
  }

  /** Switches to another conversation. */
  switchTo(agent: AgentHandle): void {
    this.watching.abort();
    this.agent = agent;
    this.watch();
  }

  /** Lends the terminal for a while. */
  async handOver(work: () => Promise<void>): Promise<void> {
    this.screen.close();
    notesThrough(null);
    try {
      await work();
    } catch (err) {
      this.report(err);
    } finally {
      notesThrough((write) => this.screen.print(write));
      this.screen.open();
    }
  }

  async send(text: string, mode: 'queue' | 'interrupt'): Promise<void> {
    this.status.sent.push(text);
    try {
      await this.agent.post(text, { mode });
    } catch (err) {
      this.status.sent.splice(this.status.sent.indexOf(text), 1);
      throw err;
    }
  }

  /** Ends the current turn. */
  interrupt(): void {
    const { agent } = this;
    this.status.isInterrupting = true;
    agent.interrupt().catch((err: unknown) => this.printError(err));
  }

  print(text: string): void {
    this.screen.print(() => process.stdout.write(`${text}\n`));
  }

  printError(err: unknown): void {
    this.screen.print(() => this.report(err));
  }

  private report(err: unknown): void {
    reportError(err, false, { ...this.options, agent: this.agent.id });
  }

  private async take(text: string): Promise<void> {
    for (const line of text.split('\n')) if (line.trim() !== '') addToHistory(this.context.dataDir, line);
    try {
      if (/^\/(?!\/)/.test(text)) await runChatCommand(this, text);
      else await this.send(text.replace(/^\/\//, '/'), 'queue');
    } catch (err) {
      this.printError(err);
    }
  }

  private onInterrupt(hasText: boolean): void {
    const isSecond = Date.now() - this.lastInterrupt < TWICE_MS;
    this.lastInterrupt = Date.now();
    const isIdle = this.state?.status !== 'working' && this.status.sent.length === 0;
    if (isSecond || (isIdle && !hasText)) this.leave(130);
    else if (isIdle) this.screen.forget();
    else {
      note('Interrupting the turn (Ctrl-C again leaves; the conversation continues).');
      this.interrupt();
    }
  }

  private watch(): void {
    this.watching = new AbortController();
    this.reply.clear();
    this.status = newStatus(this.agent.id);
    const { signal } = this.watching;
    const { agent } = this;
    this.follow(signal).catch((err: unknown) => this.printError(err));
    this.followTokens(signal).catch((err: unknown) => this.printError(err));
    this.lookAround(signal).catch((err: unknown) => this.printError(err));
    // A terminated conversation cannot say so itself.
    const over = (err?: unknown): void => {
      if (!signal.aborted) void this.ended(err);
    };
    agent.result().then(() => over(), over);
  }

  private async ended(err: unknown): Promise<void> {
    // Its last message is on the way.
    await delay(RETRY_MS);
    if (err) this.printError(err);
    else note('The conversation has ended.');
    // With an error it may go on: its server may be away, which has been waited for already.
    const isAway = err instanceof HoldfastError && err.code === 'no_server';
    this.isOver = !isAway && (await this.agent.run().catch(() => null))?.isOver === true;
    this.leave(err instanceof HoldfastError ? err.exitCode : 0);
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { status } = this;
    const first = await this.agent.ownState();
    status.state = first;
    await this.printEarlier(first);
    const { turns, currentTurn, runId } = first;
    const place: FollowPlace = { turn: currentTurn === null ? turns + 1 : turns, index: 0, runId };
    const onState = (state: AgentState): void => void (status.state = state);
    const onTurnEnd = (_turn: number, result: AgentResult | null): void => this.onTurnEnd(result);
    while (!signal.aborted) {
      try {
        for await (const { message } of this.agent.follow(signal, { place, onState, onTurnEnd })) {
          if (signal.aborted) return;
          this.onMessage(message);
        }
        return;
      } catch (err) {
        if (err instanceof HoldfastError && err.code === 'not_found') return;
        if (!signal.aborted) this.printError(err);
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** The last question and its outcome, for a person who joins. */
  private async printEarlier({ messages, currentTurn }: AgentState): Promise<void> {
    if (messages === 0) return;
    const page = await this.agent.transcript(Math.max(0, messages - EARLIER_MESSAGES), EARLIER_MESSAGES);
    const last = page.messages.findLastIndex(({ role }) => role === 'user');
    const shown = page.messages.slice(Math.max(0, last));
    const before = messages - shown.length;
    if (before > 0) note(`[${before} earlier messages]`);
    for (const message of shown) this.say(message);
    if (currentTurn !== null) note('[a turn is running]');
  }

  private onMessage(message: Message): void {
    sawMessage(this.status, message);
    if (message.role === 'assistant') this.reply.recorded();
    this.say(message);
  }

  private say(message: Message): void {
    this.screen.print(() => {
      printMessage(message, 'you');
      if (message.role !== 'assistant' || message.parsed.kind !== 'answer') return;
      draw(`\n${inert(message.parsed.answer).trimEnd()}\n\n`);
    });
  }

  private onTurnEnd(result: AgentResult | null): void {
    this.status.isInterrupting = false;
    this.reply.clear();
    if (!result) return;
    const error = errorOf(result);
    if (error) this.printError(error);
    this.print(styled('dim', `[${resultText(result)}]`));
  }

  private async followTokens(signal: AbortSignal): Promise<void> {
    const { agent, context } = this;
    for await (const token of followTokens({ dataDir: context.dataDir, agent: agent.id, signal })) {
      if (this.reply.take(token)) note('[the model’s text so far is dropped]');
    }
  }

  /** What the turn and the sessions wait for; no requests are made while nothing runs. */
  private async lookAround(signal: AbortSignal): Promise<void> {
    const { status } = this;
    for (; !signal.aborted; await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)) {
      if (status.state?.status !== 'working') {
        status.turn = null;
        status.running = [];
        continue;
      }
      // The next look follows soon.
      const all = await allWork(this.context, { agent: status.id }).catch(() => null);
      if (!all) continue;
      status.turn = all.find(({ workflowId }) => workflowId === status.state?.currentTurn) ?? null;
      status.running = all.flatMap(({ workflowId, waits, session }) => {
        const ref = parseSessionWorkflowId(workflowId);
        const runs = waits !== null || session?.status === 'running' || session?.status === 'waiting_input';
        return ref && runs ? [{ host: ref.host, session: ref.session, waits }] : [];
      });
    }
  }

  private now(): string[] {
    const columns = columnsOf(process.stdout) - 1;
    const room = Math.max(1, Math.min(12, process.stdout.rows - 8));
    return [
      ...this.reply.lines(columns, room).map((line) => styled('dim', line)),
      ...this.status.sent.map((text) =>
        styled('cyan', cut(`   queued  ${plainText(text).replaceAll('\n', ' ')}`, columns)),
      ),
      ...statusLines(this.status, this.reply.isWriting, columns, this.options),
    ];
  }
}
