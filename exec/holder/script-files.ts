// What bash and the interpreters read of a command. Where a secret stands in it, a pipe under the file's name hands it
// over: filled in it lies on no disk, and is gone when it is read.
import { execFileSync } from 'node:child_process';
import { constants, openSync, renameSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { outsideProgram } from './outside-programs';
import type { SessionSecrets } from './session-secrets';
import { removeQuietly } from '../json-file';

const LOOK_MS = 2;
/** An interpreter reads its file at the beginning; some do it twice. */
const LATER_LOOK_MS = 50;
const LOOKS = 500;

export class ScriptFiles {
  private pipes = new Set<Pipe>();

  constructor(private readonly secrets: SessionSecrets | undefined) {}

  /** What bash sources is read once; a file of an interpreter as often as it likes. */
  write = (path: string, text: string, reads: 'once' | 'often' = 'often'): void => {
    const filled = this.secrets?.fill(text) ?? text;
    if (filled === text) writeFileSync(path, text, { mode: 0o600 });
    else this.pipes.add(new Pipe(path, filled, reads));
  };

  /** The command that reads them is over. */
  close(): void {
    for (const pipe of this.pipes) pipe.close();
    this.pipes.clear();
  }
}

/** Gives a text to each who opens it. */
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
      // It read as much as it wanted.
      reader.on('error', () => undefined);
      reader.end(this.text);
    } catch (err) {
      // Nobody reads yet (fifo(7)).
      if ((err as NodeJS.ErrnoException).code === 'ENXIO') return;
      this.close();
      console.error(new Date().toISOString(), err);
    }
  }

  /** A pipe of its own for who comes next: this reader would get the text twice. */
  private renew(): void {
    try {
      execFileSync(outsideProgram('mkfifo'), ['-m', '600', `${this.path}.next`], { stdio: 'ignore' });
      renameSync(`${this.path}.next`, this.path);
    } catch {
      // The disk is full: most need it once.
      this.close();
    }
  }
}
