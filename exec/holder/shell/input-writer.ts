// Writes input to a terminal that may accept it slowly or not at all, without burning CPU.
import { writeSync } from 'node:fs';
import { KEYS, type Key } from '../../../contracts/sessions/session';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { descendantsOf, isRunning, livingStat } from '../../../system/processes/proc';
import { lineSettings, type LineSettings } from './line-settings';
import type { Shell } from './shell';

/** N_TTY keeps 4,095 bytes of a line and its newline, and silently drops the rest (termios(3)). */
const CANONICAL_LINE_BYTES = 4_095;
/** Enter, a newline, and the keys after which nothing of a line is left: ctrl-c, ctrl-d, ctrl-u, ctrl-z, ctrl-\\. */
const LINE_ENDS = Buffer.from('\r\n\x03\x04\x15\x1a\x1c');
const MAX_QUEUED_BYTES = 1024 * 1024;
/** Four of the largest answers, or 4,096 small ones: more than callers that read them can leave. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024 + 4 * 1024;
/** As what a smaller one counts, which costs more memory than its bytes. */
const SMALL_ANSWER_BYTES = 4 * 1024;
const CHUNK_BYTES = 1_024;
/** After this time, input that the program does not read stays in the queue and its sender is answered. */
const ANSWER_MS = 500;
const SIGNAL_TRIES = 300;
/** A copy of bash that stays one for longer is a subshell, which takes signals like any program. */
const STARTING_TRIES = 100;
const SIGNAL_KEYS: Partial<Record<Key, NodeJS.Signals>> = {
  'ctrl-c': 'SIGINT',
  'ctrl-\\': 'SIGQUIT',
  'ctrl-z': 'SIGTSTP',
};

interface Queued {
  bytes: Buffer;
  /** More than 0 for an answer. Its reader waits for all of it: a Ctrl-C does not discard it. */
  answerBytes: number;
}

export class InputWriter {
  private queue: Queued[] = [];
  private queuedBytes = 0;
  private answerBytes = 0;
  /** Typed since the last end of a line, as far as known: a terminal in line mode holds them until the next. */
  private lineBytes = 0;
  private looked: Promise<unknown> = Promise.resolve();
  private isDraining = false;
  private drained: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly shell: Shell) {}

  /**
   * Types `text` and, by default, Enter, then presses `keys`. Throws `input_too_long` before it types anything.
   * @param onTyping called just before the first byte: what it throws is thrown, and nothing is typed
   */
  async type(text: string | null, keys: Key[], enter = true, onTyping?: () => void): Promise<void> {
    const bytes = Buffer.from(text === null ? '' : `${text}${enter ? '\r' : ''}`, 'utf8');
    const looked = this.looked.then(() => this.look(text, bytes, keys));
    this.looked = looked;
    const { longest, settings } = await looked;
    const allowed = longest > CANONICAL_LINE_BYTES && settings?.canonical ? CANONICAL_LINE_BYTES : undefined;
    if (allowed) throw new HoldfastError('input_too_long', { got: longest, allowed });
    if (this.queuedBytes + bytes.length > MAX_QUEUED_BYTES) {
      throw new HoldfastError('input_too_long', {
        got: this.queuedBytes + bytes.length,
        allowed: MAX_QUEUED_BYTES,
      });
    }
    onTyping?.();
    this.typed(bytes);
    for (const key of keys) await this.press(key, settings?.signals ?? false);
    if (settings?.canonical === false) this.lineBytes = 0;
    await Promise.race([this.drained, new Promise((resolve) => setTimeout(resolve, ANSWER_MS).unref())]);
  }

  /** In the order of the inputs, so that none overtakes another. The settings are read only if they matter. */
  private async look(
    text: string | null,
    bytes: Buffer,
    keys: Key[],
  ): Promise<{ longest: number; settings: LineSettings | undefined }> {
    const lines = (text ?? '').split(/[\r\n]/);
    // Not Math.max(...): there may be more of them than a call may have arguments.
    const longest = lines.reduce(
      (most, line, at) =>
        Math.max(most, Buffer.byteLength(line) + (at === 0 && line !== '' ? this.lineBytes : 0)),
      0,
    );
    const isUnfinished = bytes.length > 0 && !LINE_ENDS.includes(bytes.at(-1) as number);
    const matter = longest > CANONICAL_LINE_BYTES || isUnfinished || keys.some((key) => SIGNAL_KEYS[key]);
    const tty = this.shell.ttyPath;
    return { longest, settings: matter && tty ? await lineSettings(tty) : undefined };
  }

  /** Unread bytes are kept up to a limit. */
  hasRoomFor(bytes: Buffer): boolean {
    return this.queuedBytes + bytes.length <= MAX_QUEUED_BYTES;
  }

  /** Types raw bytes; drops those that there is no room for. */
  raw(bytes: Buffer): void {
    if (!this.hasRoomFor(bytes)) return;
    this.enqueue(bytes);
    this.lineBytes = 0;
  }

  /**
   * Types an answer that a program waits for, after everything typed before; the caller bounds its size. Returns false if
   * the answers are not read: they are then dropped, this one included.
   */
  answer(bytes: Buffer): boolean {
    const answerBytes = Math.max(bytes.length, SMALL_ANSWER_BYTES);
    if (this.answerBytes + answerBytes > MAX_ANSWER_BYTES) {
      // The first may be half written.
      this.queue = this.queue.filter((queued, at) => at === 0 || queued.answerBytes === 0);
      this.answerBytes = this.queue[0]?.answerBytes ?? 0;
      return false;
    }
    this.enqueue(bytes, answerBytes);
    this.lineBytes = 0;
    return true;
  }

  /** Discards what has not been written yet. */
  stop(): void {
    this.stopped = true;
    this.queue = [];
    this.queuedBytes = 0;
    this.answerBytes = 0;
  }

  private async press(key: Key, raisesSignals: boolean): Promise<void> {
    const signal = raisesSignals ? SIGNAL_KEYS[key] : undefined;
    // As a byte it would wait, or get lost, behind unread input.
    if (signal && (await this.signalForeground(signal))) {
      this.queue = this.queue.filter(({ answerBytes }) => answerBytes > 0);
      this.lineBytes = Math.max(0, this.lineBytes - this.queuedBytes);
      this.queuedBytes = 0;
    } else {
      this.typed(Buffer.from(KEYS[key]));
    }
  }

  private typed(bytes: Buffer): void {
    this.enqueue(bytes);
    const end = bytes.findLastIndex((byte) => LINE_ENDS.includes(byte));
    this.lineBytes = end < 0 ? this.lineBytes + bytes.length : bytes.length - 1 - end;
  }

  /**
   * A short job may end between the look at the foreground group and the signal: then look again. A bash that is just
   * starting a program holds the signal until that program ends, so the program is signalled itself.
   */
  private async signalForeground(signal: NodeJS.Signals): Promise<boolean> {
    const { shellPid } = this.shell;
    let isTaken = false;
    let starting = 0;
    for (let tries = 0; tries < SIGNAL_TRIES && !this.stopped; tries++) {
      const group = this.shell.foregroundGroup;
      if (group === undefined) return isTaken;
      // bash's copy for a program that is just starting still has bash's handlers, and would swallow the signal.
      const isStarting = this.shell.isCopyOfShell(group) && ++starting < STARTING_TRIES;
      const isSignalled = isTaken && group === shellPid;
      if (!isStarting && !isSignalled && this.takesSignals(group)) {
        try {
          process.kill(-group, signal);
          if (group !== shellPid) return true;
          isTaken = true;
        } catch (err) {
          if ((err as NodeJS.ErrnoException).code !== 'ESRCH') return isTaken;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return isTaken || this.stopped;
  }

  /** A group with only a zombie left accepts a signal, without any effect. */
  private takesSignals(group: number): boolean {
    return (
      isRunning(group) || descendantsOf(this.shell.leader).some((pid) => livingStat(pid)?.group === group)
    );
  }

  private enqueue(bytes: Buffer, answerBytes = 0): void {
    if (bytes.length === 0) return;
    this.queue.push({ bytes, answerBytes });
    this.answerBytes += answerBytes;
    if (answerBytes === 0) this.queuedBytes += bytes.length;
    if (!this.isDraining) this.drained = this.drain();
  }

  private async drain(): Promise<void> {
    this.isDraining = true;
    let pauseMs = 1;
    for (let head = this.queue[0]; head && !this.stopped; head = this.queue[0]) {
      const written = this.write(head.bytes.subarray(0, CHUNK_BYTES));
      if (written > 0) {
        pauseMs = 1;
        if (head.answerBytes === 0) this.queuedBytes -= written;
        head.bytes = head.bytes.subarray(written);
        if (head.bytes.length > 0) continue;
        this.queue.shift();
        this.answerBytes -= head.answerBytes;
      } else {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        pauseMs = Math.min(pauseMs * 2, 100);
      }
    }
    // In the same tick as the last look at the queue: new input must start its own drain.
    this.isDraining = false;
  }

  private write(bytes: Buffer): number {
    try {
      return writeSync(this.shell.masterFd, bytes);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      this.stop();
      return 0;
    }
  }
}
