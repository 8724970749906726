// Starts the holder of a session as a process that outlives this one.
import type { TreeKill } from '../../../contracts/sessions/session';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SessionRef } from '../../../contracts/ids';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import type { HolderRecord } from '../../client/holder-client';
import { startHolderProcess } from './holder-process';
import { writeJson } from '../../../system/json-file';
import { readProcessRecord } from '../../../system/processes/process-record';
import { makeFolder } from '../../../system/make-folder';
import type { HolderConfig, HolderFailure } from '../../holder-config';
import type { SandboxProfile } from '../../sandbox/profile';
import { socketPathFor, type SessionPaths } from '../../session-paths';
import type { SpareHolder } from './spare-holder';
import { asStorageFailure } from '../../../system/storage-failure';
import { checkWorkingFolder } from '../../working-folder';

export interface HolderOptions {
  dataDir: string;
  cwd: string;
  env: Record<string, string>;
  treeKill: TreeKill;
  sandbox?: SandboxProfile | undefined;
  owner?: string | undefined;
  /** Maximum size of a session's log, in bytes. */
  logBytes?: number | undefined;
  /** Holders that wait for a session. */
  spare?: SpareHolder | undefined;
}

const READY_MS = 20_000;

/** Resolves when the holder listens. Throws `terminal_failed` with its own report otherwise. */
export async function spawnHolder(
  ref: SessionRef,
  paths: SessionPaths,
  options: HolderOptions,
): Promise<HolderRecord> {
  const { dataDir, cwd, env, treeKill, sandbox, owner, logBytes } = options;
  checkWorkingFolder(cwd);
  makeFolder(paths.directory);
  const socketPath = socketPathFor(dataDir, paths.directory);
  const token = randomBytes(24).toString('hex');
  const reach = { socketPath, token };
  const place = { cwd, env, treeKill, sandbox };
  const config: HolderConfig = { session: ref.session, ...reach, ...place, owner, logBytes };
  writeJson(paths.config, config);
  const spare = await options.spare?.take(paths);
  // A spare that died while waiting has begun nothing: a new holder takes its place.
  const listens =
    spare &&
    (await untilListening(spare, paths.holderLog).then(
      () => true,
      () => false,
    ));
  if (!listens)
    await untilListening(
      startHolderProcess([paths.directory], paths.holderLog, sandbox?.path ?? env.PATH ?? ''),
      paths.holderLog,
    );
  const record = readProcessRecord<HolderRecord>(paths.holder);
  if (!record) throw new HoldfastError('terminal_failed', { reason: 'the holder left no record of itself' });
  return record;
}

async function untilListening(holder: ChildProcess, log: string): Promise<void> {
  // A waiting spare was unreferenced.
  holder.ref();
  holder.channel?.ref();
  await new Promise<void>((resolve, reject) => {
    const failed = (what: unknown): void => {
      clearTimeout(timer);
      const known = typeof what === 'string' ? what : asStorageFailure(what, 'nothing was run');
      if (known instanceof HoldfastError) return reject(known);
      const said = typeof known === 'string' ? known : reasonOf(known);
      reject(new HoldfastError('terminal_failed', { reason: `${said}: ${lastLines(log)}` }));
    };
    const timer = setTimeout(() => {
      holder.kill('SIGKILL');
      failed(`the holder was not ready within ${READY_MS} ms`);
    }, READY_MS).unref();
    holder.once('message', (message: string | HolderFailure) => {
      if (typeof message !== 'string')
        return failed(HoldfastError.received(message.failed.code, message.failed.facts));
      clearTimeout(timer);
      resolve();
    });
    holder.once('error', failed);
    holder.once('exit', (code, signal) => failed(`the holder ended with ${code ?? signal}`));
  });
  holder.removeAllListeners();
  holder.unref();
}

/** The last lines of the holder's log, without stack frames. */
function lastLines(path: string): string {
  try {
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !/^\s+at /.test(line))
      .slice(-3)
      .join(' / ');
  } catch (err) {
    return `its log cannot be read (${reasonOf(err)})`;
  }
}
