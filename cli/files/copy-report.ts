// Says what comes of a copy: a line of progress for a person, one JSON line for each entry for a program, and otherwise
// only what was skipped or failed.
import { isUtf8 } from 'node:buffer';
import { HoldfastError, isErrorCode } from '../../contracts/errors/holdfast-error';
import { shown } from '../../exec/transfer/names';
import { bytesOf } from '../../exec/transfer/open-folder';
import type { Observer, Outcome } from '../../exec/transfer/outcomes';
import type { GivenOptions } from '../print/next-step';
import { printJson } from '../print/print-json';
import { reportError } from '../print/report-error';
import { note } from '../terminal/terminal-style';
import { Progress } from './progress';
import { sizeText, timeText } from './sizes';
import { counted } from '../../contracts/text/counted';

const LEFT = 130;
/** What to do after an interruption. */
export const FROM_BEGINNING =
  'Start it again from the beginning: standard input and output do not go on where they stopped.';

export class CopyReport {
  private readonly progress: Progress;
  private readonly count = { files: 0, folders: 0, links: 0, skipped: 0, failed: 0, bytes: 0, sent: 0 };
  private exitCode = 0;
  private last: HoldfastError | undefined;
  private began = 0;

  /** @param json where JSON goes; null: the report is in words, on `stream` */
  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly json: NodeJS.WriteStream | null,
    private readonly given: GivenOptions,
  ) {
    this.progress = new Progress(stream);
  }

  readonly observer: Observer = {
    began: (path, size) => this.progress.began(path, size),
    moved: (bytes) => {
      this.count.sent += bytes;
      this.progress.moved(bytes);
    },
    wasThere: (bytes) => this.progress.wasThere(bytes),
    ended: (outcome) => this.report(outcome),
  };

  start(): void {
    this.began = performance.now();
    if (!this.json) this.progress.start();
  }

  stop(): void {
    this.progress.stop();
  }

  /** Returns the exit code. */
  end(): number {
    const { files, skipped, failed, bytes } = this.count;
    const ms = Math.round(performance.now() - this.began);
    if (this.json) printJson({ done: failed === 0, ...this.count, ms }, this.json);
    else if (this.stream.isTTY) {
      const more = [
        ...(skipped > 0 ? [`${skipped} skipped`] : []),
        ...(failed > 0 ? [`${failed} failed`] : []),
      ];
      const rate = sizeText(bytes / Math.max(0.001, ms / 1_000));
      const copied = `${counted(files, 'file')}, ${sizeText(bytes)}`;
      note([`${copied} in ${timeText(ms / 1_000)} (${rate}/s)`, ...more].join(', '));
    }
    return this.exitCode;
  }

  /** After Ctrl-C. */
  left({ isStandard }: { isStandard: boolean }): number {
    if (this.json) printJson({ done: false, ...this.count, interrupted: true }, this.json);
    else if (isStandard) note(`Interrupted. ${FROM_BEGINNING}`);
    else
      note(
        'Interrupted: whole files are in place. Start it again, and a large file goes on where it stopped.',
      );
    return LEFT;
  }

  /** Whether the error that ends the transfer is that of the last entry: a full disk, for example. */
  hasReported(err: unknown): boolean {
    const { last } = this;
    return err instanceof HoldfastError && last?.code === err.code && last.detail === err.detail;
  }

  private report(outcome: Outcome): void {
    const path = shown(outcome.path);
    if (outcome.is === 'done') {
      this.count[`${outcome.kind}s`] += 1;
      this.count.bytes += outcome.bytes;
    } else this.count[outcome.is] += 1;
    const error = outcome.is === 'failed' ? errorOf(outcome) : undefined;
    this.last = error;
    if (error && this.exitCode === 0) this.exitCode = error.exitCode;
    if (this.json)
      return printJson(
        { ...outcome, ...exactPath(outcome), ...(error && { error: error.toJSON() }) },
        this.json,
      );
    if (outcome.is === 'done') {
      if (!outcome.notCopied) return;
      this.progress.clear();
      return note(
        `${path}: copied without ${outcome.notCopied.join(' and ')}; \`chmod\` there gives it again`,
      );
    }
    this.progress.clear();
    if (error) reportError(error, false, this.given);
    else if (outcome.is === 'skipped') note(`skipped ${path}: ${outcome.why}`);
  }
}

/** Where a name is not UTF-8, its bytes too. */
function exactPath({ path }: Outcome): { path: string; pathBase64?: string } {
  const bytes = bytesOf(path);
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? { path: text } : { path: text, pathBase64: bytes.toString('base64') };
}

function errorOf({ error: { code, facts } }: Extract<Outcome, { is: 'failed' }>): HoldfastError {
  if (isErrorCode(code)) return HoldfastError.received(code, facts);
  return new HoldfastError('internal', { reason: `the other side reports ${String(code)}` });
}
