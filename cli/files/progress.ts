// The line that shows how far a transfer is, where a person looks at a terminal.
import type { Name } from '../../exec/transfer/transfer-messages';
import { shown } from '../../exec/transfer/names';
import type { Observer } from '../../exec/transfer/outcomes';
import { inertLine } from '../../contracts/text/inert';
import { draw } from '../terminal/guarded-output';
import { columnsOf, styled } from '../terminal/terminal-style';
import { sizeText, timeText } from './sizes';

const EVERY_MS = 200;
/** The rate is that of the last seconds. */
const WINDOW_MS = 3_000;
const CLEAR = '\r\x1b[K';

export class Progress implements Observer {
  private path: Name = '';
  private size: number | null = null;
  /** Bytes of the file under way, with what was there. */
  private have = 0;
  private total = 0;
  private readonly seen: { at: number; total: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  start(): void {
    if (this.stream.isTTY) this.timer = setInterval(() => this.draw(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.clear();
  }

  /** Before something else is written. */
  clear(): void {
    if (this.stream.isTTY) draw(CLEAR, this.stream);
  }

  began(path: Name, size: number | null): void {
    this.path = path;
    this.size = size;
    this.have = 0;
  }

  moved(bytes: number): void {
    this.have += bytes;
    this.total += bytes;
  }

  wasThere(bytes: number): void {
    this.have += bytes;
  }

  private draw(): void {
    const line = inertLine(this.line(Date.now())).slice(0, columnsOf(this.stream) - 1);
    draw(CLEAR + styled('dim', line, this.stream), this.stream);
  }

  private line(now: number): string {
    this.seen.push({ at: now, total: this.total });
    while (this.seen.length > 2 && now - (this.seen[0]?.at ?? now) > WINDOW_MS) this.seen.shift();
    const [first] = this.seen;
    const seconds = first ? (now - first.at) / 1_000 : 0;
    const rate = first && seconds > 0 ? (this.total - first.total) / seconds : 0;
    const parts = [this.share(), `${sizeText(rate)}/s`];
    if (this.size !== null && rate > 0 && this.size > this.have)
      parts.push(`${timeText((this.size - this.have) / rate)} left`);
    return [...parts, shown(this.path)].join('  ');
  }

  private share(): string {
    const { size, have } = this;
    if (size === null) return sizeText(have);
    const percent = size === 0 ? 100 : Math.floor((100 * have) / size);
    return `${String(percent).padStart(3)}%  ${sizeText(have)} of ${sizeText(size)}`;
  }
}
