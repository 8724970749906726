// Command lines that share a process, for tests of what they do and print: most of the time of each is its start. How
// one ends, and what it is in a terminal or a pipe, is for a process of its own.
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Setting {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export class CommandLines {
  private process: ChildProcess | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** One at a time, and with nothing on stdin. */
  run(args: readonly string[], setting: Setting): Promise<CliResult> {
    const result = this.last.then(() => this.runNext(args, setting));
    this.last = result.catch(() => undefined);
    return result;
  }

  end(): void {
    this.process?.kill('SIGKILL');
  }

  private runNext(args: readonly string[], setting: Setting): Promise<CliResult> {
    const child = (this.process ??= fork(join(__dirname, 'command-lines-main.js'), { stdio: 'ignore' }));
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`${args.join(' ')}: exit code ${code}`));
      child.once('exit', ended);
      child.once('message', (result: CliResult) => {
        child.off('exit', ended);
        resolve(result);
      });
      child.send({ args: withoutPage(args), ...setting });
    });
  }
}

/** `holdfast up` without the API and the page, unless the test is about them: most only want a worker. */
export const withoutPage = (args: readonly string[]): readonly string[] =>
  args[0] === 'up' && !args.includes('--listen') ? [...args, '--no-serve'] : args;
