// Reads the logs of a data folder's processes back.
import { closeSync, fstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { LOG_LEVELS, type LogLevel } from '../../contracts/text/log-levels';

export interface LoggedLine {
  /** As it was written. */
  text: string;
  /** A line that a library printed, or Node when it crashed, has none. */
  facts: Record<string, unknown> | undefined;
  /** In milliseconds since the Unix epoch; of a line without one, that of the line before. */
  at: number;
  level: LogLevel;
}

/** Reads what is new in a log each time; older files of it first. */
export class LogReader {
  private offset = 0;
  private rest = '';
  private at = 0;
  /** Of the latest older file: another one shows that the log was moved aside. */
  private moved: number | undefined;
  private hasRead = false;

  constructor(private readonly path: string) {}

  read(): LoggedLine[] {
    const latest = `${this.path}.1`;
    const moved = statSync(latest, { throwIfNoEntry: false })?.ino;
    let text = '';
    if (!this.hasRead)
      text = olderFiles(this.path)
        .map((file) => readFrom(file, 0).text)
        .join('');
    else if (moved !== this.moved) {
      // What was written after our last look is there now.
      text = readFrom(latest, this.offset).text;
      this.offset = 0;
    }
    this.hasRead = true;
    this.moved = moved;
    const now = readFrom(this.path, this.offset);
    this.offset = now.size;
    const whole = this.rest + text + now.text;
    const end = whole.lastIndexOf('\n') + 1;
    this.rest = whole.slice(end);
    return linesOf(whole.slice(0, end)).map((line) => this.parsed(line));
  }

  private parsed(text: string): LoggedLine {
    const facts = asFacts(text);
    const at = typeof facts?.time === 'string' ? Date.parse(facts.time) : Number.NaN;
    if (Number.isFinite(at)) this.at = at;
    const level = LOG_LEVELS.find((one) => one === facts?.level) ?? 'info';
    return { text, facts, at: this.at, level };
  }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function asFacts(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** `worker.log.3`, `worker.log.2`, `worker.log.1`: the oldest first. */
function olderFiles(path: string): string[] {
  const name = basename(path);
  let entries: string[];
  try {
    entries = readdirSync(dirname(path));
  } catch {
    return [];
  }
  const numbers = entries
    .filter((entry) => entry.startsWith(`${name}.`))
    .map((entry) => Number(entry.slice(name.length + 1)))
    .filter((n) => Number.isInteger(n) && n > 0);
  return numbers.sort((a, b) => b - a).map((n) => `${path}.${n}`);
}

/** What is in the file from there on; from its beginning if it is shorter by now. Nothing if it does not exist. */
function readFrom(path: string, offset: number): { text: string; size: number } {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return { text: '', size: 0 };
  }
  try {
    const { size } = fstatSync(fd);
    const start = size < offset ? 0 : offset;
    const buffer = Buffer.alloc(size - start);
    const bytes = readSync(fd, buffer, 0, buffer.length, start);
    return { text: buffer.toString('utf8', 0, bytes), size: start + bytes };
  } finally {
    closeSync(fd);
  }
}
