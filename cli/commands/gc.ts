// `holdfast gc`: removes what is not needed any more. The worker does the same by itself.
import { BlobFolder } from '../../activities/blobs/blob-folder';
import { inMib } from '../../activities/blobs/blob-room';
import { inertLine } from '../../contracts/text/inert';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { Retention, type ClosedLongAgo } from '../../exec/host/retention';
import { SessionHost } from '../../exec/host/session-host';
import { workersConfiguration } from '../../workers/configuration/configuration';
import { blobFolder } from '../../workers/open-blobs';
import { configOf, dataDirOf, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { duration } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface GcOptions extends GlobalOptions {
  dryRun?: boolean;
  /** In milliseconds; instead of the configured time. */
  olderThan?: number;
}

export const define: Define = (command) =>
  command
    .option('--dry-run', 'only list them')
    .option('--older-than <time>', 'closed before the last 7d, 12h (default: as configured)', duration)
    .addHelpText(
      'after',
      examples(
        'holdfast gc --dry-run             what the worker would remove by now',
        'holdfast gc --older-than 7d       make room',
      ),
    )
    .action(action(gc));

/** Needs neither the server nor a worker, and disturbs neither. */
async function gc(options: GcOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const { storage } = workersConfiguration(dataDir, configOf(options));
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  const keepMs = options.olderThan ?? storage.closedSessionMs;
  const retention = new Retention({ dataDir, keepMs, isClosed: (ref) => host.isClosed(ref) });
  try {
    const sessions = options.dryRun ? await retention.due() : await retention.look();
    if (!options.dryRun) await new BlobFolder(blobFolder(dataDir)).prune();
    if (options.json) printJson({ dryRun: options.dryRun ?? false, sessions: sessions.map(factsOf) });
    else printRemoved(sessions, options.dryRun ?? false);
  } finally {
    host.detach();
  }
  return 0;
}

const factsOf = ({ ref, closedAt, bytes }: ClosedLongAgo): object => ({
  ...ref,
  closedAt: new Date(closedAt).toISOString(),
  bytes,
});

function printRemoved(sessions: ClosedLongAgo[], isDry: boolean): void {
  for (const { ref, closedAt, bytes } of sessions) {
    const when = new Date(closedAt).toISOString().slice(0, 10);
    const what = `session ${ref.session} of ${ref.agent} on ${ref.host}`;
    process.stdout.write(`${inertLine(what)}, closed on ${when}, ${inMib(bytes)}\n`);
  }
  const all = inMib(sessions.reduce((sum, { bytes }) => sum + bytes, 0));
  note(`${isDry ? 'Would remove' : 'Removed'} ${sessions.length} closed sessions, ${all}.`);
}
