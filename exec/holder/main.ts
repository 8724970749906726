// The holder: a small detached process that owns one session's terminal, log and socket and outlives every worker.
// Started with the session's folder, or as a spare that learns it later; ends on `close` or TERM.
import { basename, dirname } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { readJson } from '../../system/json-file';
import { outliveLog } from '../../system/log/outlive-log';
import { identityOf } from '../../system/processes/process-identity';
import { writeProcessRecord } from '../../system/processes/process-record';
import type { Sandbox } from '../sandbox/sandbox';
import { parseSessionDirectory, sessionPaths } from '../session-paths';
import type { HolderConfig, HolderFailure } from '../holder-config';
import { asStorageFailure } from '../../system/storage-failure';
import { removeSpare, spareFiles, type SpareConfig } from '../spare-files';
import { Holder } from './holder';
import { useOutsidePrograms } from './shell/outside-programs';
import { Session } from './session';
import { openSpareShell, type SpareShell } from './shell/spare-shell';

/** Its starter was killed: the next worker opens the session again, and a session has only one holder. */
const leave = (): never => process.exit(0);
process.once('disconnect', leave);
outliveLog();
// The shell outlives the terminal and the command line it was started from.
for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined);
// A fault in here must not end somebody's terminal: it is logged, and the next request is served. Before there is a
// terminal, while the starter listens, it is reported to the starter.
process.on('uncaughtException', (err) => {
  console.error(new Date().toISOString(), err);
  if (!process.connected) return;
  const failure = asStorageFailure(err);
  if (!(failure instanceof HoldfastError)) process.exit(1);
  // Reported as a typed failure: the last lines of a log on a full disk say nothing.
  const report: HolderFailure = { failed: { code: failure.code, facts: failure.facts } };
  process.send?.(report, () => process.exit(1));
});

const [place = '', kind] = process.argv.slice(2);
void (kind === 'spare' ? waitForSession(place) : open(place, null));

/** Opens a shell in `directory`, reports it, and becomes the holder of the session that it is then assigned. */
async function waitForSession(directory: string): Promise<void> {
  const files = spareFiles(directory);
  const config = readJson<SpareConfig>(files.config);
  if (!config) throw new Error(`no configuration for ${directory}`);
  writeProcessRecord(files.owner, identityOf(process.pid));
  // Also as a session's holder: the shell's folder exists until its session ends it.
  process.once('exit', () => removeSpare(directory));
  // Set before there is a shell: the default action would leave a starting shell behind.
  let terminated: () => void = leave;
  process.on('SIGTERM', () => terminated());
  const spare = openSpareShell({ ...config, directory, sandbox: await sandboxOf(config) });
  process.off('disconnect', leave);
  const end = (): void => void spare.shell.end().finally(leave);
  process.once('disconnect', end);
  terminated = end;
  process.once('message', (session: string) => {
    process.off('disconnect', end);
    // From then on the session handles it.
    terminated = () => undefined;
    process.once('disconnect', leave);
    void open(session, spare);
  });
  process.send?.('ready');
}

/** Becomes the holder of the session in this folder. */
async function open(directory: string, spare: SpareShell | null): Promise<void> {
  const ref = parseSessionDirectory(basename(directory));
  if (!ref) throw new Error(`not a session's folder: ${directory}`);
  const paths = sessionPaths(dirname(dirname(directory)), ref);
  const config = readJson<HolderConfig>(paths.config);
  if (!config) throw new Error(`no configuration in ${directory}`);
  const sandbox = spare ? spare.sandbox : await sandboxOf(config);
  const holder = new Holder(config, paths, new Session(config, paths, sandbox, spare));
  process.on('SIGTERM', () => void holder.end('holder was told to end'));
  holder.listen(() => {
    if (process.send && !process.connected) leave();
    holder.introduce();
    process.off('disconnect', leave);
    process.send?.('ready');
    process.disconnect?.();
  });
}

async function sandboxOf({ sandbox }: SpareConfig): Promise<Sandbox | undefined> {
  useOutsidePrograms(sandbox?.programs);
  return sandbox && (await import('../sandbox/sandbox')).Sandbox.open(sandbox);
}
