// Keeps one holder ready with an open shell, so that the first command of a session costs little more than
// any other. It ends with the worker that started it, unless it has become a session's by then.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../../../contracts/errors/holdfast-error';
import { startHolderProcess } from './holder-process';
import { readJson, writeJson } from '../../../system/json-file';
import { identityOf, isAlive, type Identity } from '../../../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../../../system/processes/process-record';
import type { SessionPaths } from '../../session-paths';
import { removeSpare, spareFiles, type SpareConfig } from '../../spare-files';

/** The first command gets the processor to itself. */
const PREPARE_AFTER_MS = 250;
/** A spare that has not exited within this time after its worker was killed is killed. */
const ENDED_MS = 5_000;
/** How long a session waits for a starting spare before it starts its own holder. */
const READY_MS = 2_000;

interface Spare {
  process: ChildProcess;
  directory: string;
  ready: Promise<unknown>;
}

export class SpareHolder {
  private spare: Spare | null = null;
  private timer: NodeJS.Timeout | undefined;
  private warnedOf = '';
  private readonly folder: string;

  constructor(private readonly options: SpareConfig & { dataDir: string }) {
    this.folder = join(options.dataDir, 'spares');
    this.orWithout(() => removeLeftOver(this.folder));
  }

  /** Starts one in the background if none is ready. If that fails, the next `take` retries. */
  prepare(): void {
    if (this.spare || !existsSync(this.options.cwd)) return;
    this.orWithout(() => {
      const spare = startSpare(this.folder, this.options);
      this.spare = spare;
      // A failure does no harm: sessions then start their own holder, which reports the reason.
      spare.ready.catch(() => {
        if (this.spare === spare) this.spare = null;
      });
      spare.process.once('exit', () => {
        if (this.spare !== spare) return;
        this.spare = null;
        this.orWithout(() => removeSpare(spare.directory));
      });
    });
  }

  /** A holder that has been assigned the session and will report when it listens; undefined if none is ready. */
  async take(paths: SessionPaths): Promise<ChildProcess | undefined> {
    const { spare } = this;
    this.spare = null;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.prepare(), PREPARE_AFTER_MS).unref();
    if (!spare) return undefined;
    try {
      await readyInTime(spare);
      const files = spareFiles(spare.directory);
      rmSync(files.config, { force: true });
      // Keep the log of earlier holders of the session.
      if (existsSync(paths.holderLog)) appendFileSync(files.log, readFileSync(paths.holderLog));
      renameSync(files.log, paths.holderLog);
      spare.process.send(paths.directory);
      return spare.process;
    } catch {
      // It has begun nothing, and nothing else would ever end it.
      spare.process.kill('SIGKILL');
      this.orWithout(() => removeSpare(spare.directory));
      return undefined;
    }
  }

  /** Ends the spare, and resolves when it is gone. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const { spare } = this;
    this.spare = null;
    if (!spare || spare.process.exitCode !== null || spare.process.signalCode !== null) return;
    const ended = once(spare.process, 'exit');
    spare.process.ref();
    spare.process.kill('SIGTERM');
    // A stopped one hears nothing, and must not hold up the end of its worker.
    spare.process.kill('SIGCONT');
    const late = setTimeout(() => spare.process.kill('SIGKILL'), ENDED_MS);
    await ended.finally(() => clearTimeout(late));
    this.orWithout(() => removeSpare(spare.directory));
  }

  /** A spare only saves time: its failure must not end the worker. */
  private orWithout(work: () => void): void {
    try {
      work();
    } catch (err) {
      const reason = reasonOf(err);
      if (reason === this.warnedOf) return;
      this.warnedOf = reason;
      process.emitWarning(`no spare holder is kept ready: ${reason}`, { code: 'HOLDFAST_NO_SPARE' });
    }
  }
}

/** Throws if it exits, or does not report in time that it is ready. */
async function readyInTime({ ready }: Spare): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the spare holder is late')), READY_MS);
  });
  await Promise.race([ready, late]).finally(() => clearTimeout(timer));
}

/** Throws if there is no room for one, and then leaves nothing behind. */
function startSpare(folder: string, { cwd, env, treeKill, sandbox }: SpareConfig): Spare {
  const directory = join(folder, randomBytes(8).toString('hex'));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const starter = identityOf(process.pid);
    const config: SpareConfig = { cwd, env, treeKill, sandbox, starter };
    const files = spareFiles(directory);
    // Owned by its starter until it has identified itself: the worker of another host here must not take it for a
    // leftover.
    writeProcessRecord(files.owner, starter);
    writeJson(files.config, config);
    const child = startHolderProcess([directory, 'spare'], files.log, sandbox?.path ?? env.PATH ?? '');
    const ready = Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the spare holder ended'))),
    ]);
    child.unref();
    child.channel?.unref();
    return { process: child, directory, ready };
  } catch (err) {
    removeSpare(directory);
    throw err;
  }
}

/** Waits until the spares of killed workers have exited, which they do by themselves, and removes their files. */
export async function endLeftOverSpares(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'spares');
  const late = performance.now() + ENDED_MS;
  for (const directory of spareFolders(folder)) {
    const { config, owner } = spareFiles(directory);
    const starter = readJson<SpareConfig>(config)?.starter;
    const spare = readProcessRecord<Identity>(owner);
    if (!starter || isAlive(starter) || !spare) continue;
    while (isAlive(spare) && performance.now() < late) await delay(5);
    if (isAlive(spare)) process.kill(spare.pid, 'SIGKILL');
  }
  removeLeftOver(folder);
}

/** Folders and files of spares that were killed, or whose sessions have ended since. */
function removeLeftOver(folder: string): void {
  for (const directory of spareFolders(folder)) {
    const owner = readProcessRecord<Identity>(spareFiles(directory).owner);
    if (!owner || !isAlive(owner)) removeSpare(directory);
  }
}

function spareFolders(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return [...new Set(names.map((file) => join(folder, file.replace(/\..*$/, ''))))];
}
