// The life of a session's shell: from its opening, or from a spare one, until its epoch ends.
import { join } from 'node:path';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import { writeJson } from '../../../system/json-file';
import { asStorageFailure } from '../../../system/storage-failure';
import type { HolderConfig } from '../../holder-config';
import type { TerminalSize } from '../../protocol';
import type { Sandbox } from '../../sandbox/sandbox';
import type { SessionPaths } from '../../session-paths';
import { recordTree } from '../../tree-record';
import { checkWorkingFolder } from '../../working-folder';
import { WaitingWatch } from '../waiting/waiting-watch';
import { InputWriter } from './input-writer';
import { Shell } from './shell';
import type { SpareShell } from './spare-shell';

export interface Life {
  shell: Shell;
  input: InputWriter;
  watch: WaitingWatch;
  /** No command has begun in it. */
  isUnused: boolean;
}

export interface LifeEvents {
  onOutput: (data: Buffer, shell: Shell) => void;
  onCommandEnd: (exitCode: number) => void;
  onShellEnd: (exitCode: number) => void;
  onWaiting: (shell: Shell) => void;
}

/** Opens the shells of a session, one after the other. */
export class ShellLives {
  constructor(
    private readonly config: HolderConfig,
    private readonly paths: SessionPaths,
    private readonly sandbox: Sandbox | undefined,
    /** Opened ahead of the session, so that its first command need not wait. */
    private spare: SpareShell | null,
  ) {}

  /** Throws `terminal_failed`, `storage_failed` and `resources_exhausted`. */
  open(epoch: number, size: TerminalSize | null, events: LifeEvents): Life {
    writeJson(this.paths.epoch, epoch);
    const shell = this.openShell(epoch, size, events);
    recordTree(this.paths, shell.tree);
    const watch = new WaitingWatch(shell, () => events.onWaiting(shell));
    return { shell, input: new InputWriter(shell), watch, isUnused: true };
  }

  private openShell(epoch: number, size: TerminalSize | null, events: LifeEvents): Shell {
    try {
      const { sandbox, spare } = this;
      const { cwd, env, treeKill } = this.config;
      checkWorkingFolder(cwd);
      this.spare = null;
      const directory = join(this.paths.directory, `epoch-${epoch}`);
      const shell = spare?.shell ?? new Shell({ directory, cwd, env, treeKill, sandbox });
      const onOutput = (data: Buffer): void => events.onOutput(data, shell);
      const { onCommandEnd, onShellEnd } = events;
      shell.serve({ onOutput, onCommandEnd, onShellEnd }, spare || sandbox ? cwd : '');
      if (size) shell.resize(size);
      for (const data of spare?.early ?? []) onOutput(data);
      return shell;
    } catch (err) {
      const failure = asStorageFailure(err);
      throw failure instanceof HoldfastError
        ? failure
        : new HoldfastError('terminal_failed', { reason: reasonOf(err) });
    }
  }

  /** For a session that ends before its first command. */
  async endSpare(): Promise<void> {
    await this.spare?.shell.end();
    this.spare = null;
  }
}
