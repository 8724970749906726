// The files of a command that bash and the interpreters read. A file that contains a secret is a named pipe instead:
// the filled-in text is never on disk, and is gone once read.
import { execFileSync } from 'node:child_process';
import { constants, openSync, renameSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { outsideProgram } from './outside-programs';
import type { SessionSecrets } from '../session-secrets';
import { removeQuietly } from '../../../system/json-file';

const LOOK_MS = 2;
/** An interpreter reads its file at the start; some read it twice. */
const LATER_LOOK_MS = 50;
const LOOKS = 500;

export class ScriptFiles {
  private pipes = new Set<Pipe>();

  constructor(private readonly secrets: SessionSecrets | undefined) {}

  /** bash sources its file once; an interpreter may read its own repeatedly. */
  write = (path: string, text: string, reads: 'once' | 'often' = 'often'): void => {
    const filled = this.secrets?.fill(text) ?? text;
    if (filled === text) writeFileSync(path, text, { mode: 0o600 });
    else this.pipes.add(new Pipe(path, filled, reads));
  };

  /** The command that reads them has ended. */
  close(): void {
    for (const pipe of this.pipes) pipe.close();
    this.pipes.clear();
  }
}

/** Serves a text to each reader that opens the pipe. */
class Pipe {
  private timer: NodeJS.Timeout | undefined;
  private looks = 0;

  constructor(
    private readonly path: string,
    private readonly text: string,
    private readonly reads: 'once' | 'often',
  ) {
    execFileSync(outsideProgram('mkfifo'), ['-m', '600', path]);
    this.look();
  }

  close(): void {
    clearTimeout(this.timer);
    removeQuietly(this.path);
  }

  private look(): void {
    this.timer = setTimeout(() => this.look(), ++this.looks > LOOKS ? LATER_LOOK_MS : LOOK_MS);
    try {
      const fd = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
      if (this.reads === 'once') this.close();
      else this.renew();
      const reader = new Socket({ fd, readable: false, writable: true });
      // The reader may close early.
      reader.on('error', () => undefined);
      reader.end(this.text);
    } catch (err) {
      // No reader yet (fifo(7)).
      if ((err as NodeJS.ErrnoException).code === 'ENXIO') return;
      this.close();
      console.error(new Date().toISOString(), err);
    }
  }

  /** A new pipe for the next reader: this one would get the text twice. */
  private renew(): void {
    try {
      execFileSync(outsideProgram('mkfifo'), ['-m', '600', `${this.path}.next`], { stdio: 'ignore' });
      renameSync(`${this.path}.next`, this.path);
    } catch {
      // The disk is full. Most readers need the text only once.
      this.close();
    }
  }
}
