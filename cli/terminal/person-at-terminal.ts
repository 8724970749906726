// Connects a person's terminal to a session's: keys go there, drawing comes back, until one of the two is gone or the
// person leaves.
import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { Attachment, Change } from '../../exec/attach/attachment';
import { shownPiece } from '../../exec/output/log-reader';
import type { AttachedState, TerminalSize } from '../../exec/protocol';
import { inertLine } from '../../contracts/text/inert';
import { repaint } from '../../exec/attach/repaint';
import { AttachedOutput } from './attached-output';
import { draw } from './guarded-output';
import { inertFor } from './inert-text';
import { printJson } from '../print/print-json';
import { note } from './terminal-style';

/** How much of the log is redrawn, for the person's first screen. */
const REPAINT_BYTES = 256 * 1024;

/** Each means leaving; programs in the session keep running. */
const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

export interface Person {
  types: boolean;
  /** Leaves, wherever it is pressed. */
  detachKey: { byte: number; name: string };
  /** Offset to print from; null for the screen as it is. */
  from: number | null;
  json: boolean;
}

/** The person left: by the key with code 0, by a signal with the exit code that a shell gives it. */
export interface Left {
  exitCode: number;
}

/** Resolves with null when the terminal is gone or `leave` aborted: the person did not leave. */
export async function showTerminal(
  place: Attachment,
  person: Person,
  leave?: AbortSignal,
): Promise<Left | null> {
  const screen = new AttachedOutput(person.types);
  const isRaw = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !person.json;
  let left: Left | null = null;
  const close = (): void => place.close();
  const onSignal = (signal: NodeJS.Signals): void => {
    left ??= { exitCode: 128 + constants.signals[signal] };
    close();
  };
  const onKeys = (keys: Buffer): void => {
    const at = keys.indexOf(person.detachKey.byte);
    if (person.types && at !== 0)
      place.type(at < 0 ? keys : keys.subarray(0, at)).then(ringIfRefused, () => ringIfRefused(false));
    if (at < 0) return;
    left ??= { exitCode: 0 };
    close();
  };
  const onResize = (): void => {
    const size = sizeOf(process.stdout);
    // If it fails, the program keeps its current size.
    if (size) place.resize(size).catch(() => undefined);
  };
  // Also where another part of the process ends it: when the engine is stopped, for example.
  const restore = (): void => void draw(screen.restore());
  leave?.addEventListener('abort', close, { once: true });
  for (const signal of SIGNALS) process.once(signal, onSignal);
  if (isRaw) {
    process.once('exit', restore);
    process.stdin.setRawMode(true).on('data', onKeys).resume();
    process.stdout.on('resize', onResize);
  }
  try {
    await print(place, person, isRaw ? screen : null);
  } finally {
    process.stdout.off('resize', onResize);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (isRaw) {
      process.off('exit', restore);
      process.stdin.off('data', onKeys).pause().setRawMode(false);
      await write(screen.restore());
    }
  }
  return left;
}

/** Null for a terminal without a size, as many libraries make them. */
export const sizeOf = ({ columns, rows }: NodeJS.WriteStream): TerminalSize | null =>
  columns >= 1 && rows >= 1 ? { cols: columns, rows } : null;

async function print(place: Attachment, person: Person, screen: AttachedOutput | null): Promise<void> {
  const filter = screen ?? inertFor(process.stdout);
  // A chunk may end within a character.
  const decoder = new StringDecoder('utf8');
  let from = person.from;
  if (from === null) {
    from = place.state.end;
    const data = await place.read(Math.max(0, from - REPAINT_BYTES), from);
    if (screen) {
      const { drawing, rest } = await repaint(data, place.state.size);
      from -= rest;
      await write(screen.push(Buffer.from(drawing)));
    }
  }
  // A person who has just started a command knows where they are.
  if (screen && person.from === null) {
    remark(`attached${person.types ? '' : ' to watch'}; ${person.detachKey.name} leaves`);
    if (place.state.running === null) remark(IDLE);
  }
  let before = place.state;
  for await (const change of place.changes(from)) {
    if (person.json) printJson(asJson(change, decoder));
    else if (change.kind !== 'state') await write(filter.push(shownPiece(change)));
    else {
      if (screen) remarkOn(before, change.state, person);
      before = change.state;
    }
  }
}

const IDLE = 'nothing runs here now; typing has no effect';

function remarkOn(
  before: AttachedState,
  { epoch, running, typist }: AttachedState,
  { types, from }: Person,
): void {
  const hasEnded = running === null && before.running !== null;
  // After the end of a shell (`exit`) the next command begins another, without a reset.
  if (epoch !== before.epoch)
    remark(before.running === null ? `a fresh shell: epoch ${epoch}` : `it was reset: epoch ${epoch}`);
  else if (from === null && hasEnded) remark(`the program has ended; ${IDLE}`);
  if (types && typist !== before.typist)
    remark(typist ? `${inertLine(typist)} types now` : 'nobody types now');
}

/** Beside the session's own output, on separate lines. */
function remark(text: string): void {
  draw('\r\n', process.stderr);
  note(`[${text}]`);
  draw('\r', process.stderr);
}

function ringIfRefused(typed: boolean): void {
  if (!typed) draw('\x07', process.stderr);
}

function asJson(change: Change, decoder: StringDecoder): object {
  switch (change.kind) {
    case 'output':
      return { output: decoder.write(change.data), to: change.to };
    case 'missing': {
      const bytes = change.to - change.from;
      return change.missing?.cause === 'dropped'
        ? { droppedBytes: bytes, to: change.to }
        : { lostBytes: bytes, to: change.to };
    }
    case 'state':
      return { state: change.state };
  }
}

function write(text: string): Promise<void> {
  return new Promise((resolve) => draw(text, process.stdout, () => resolve()));
}
