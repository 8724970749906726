// Failed agents that a person has dismissed, of those that have ended: a workflow that is over takes no message. A private
// file of the data folder, which every gateway of the folder reads.
import { join } from 'node:path';
import { readJson, stampOf, writeJson } from '../../system/json-file';
import { withLock } from '../../system/lock';
import { makeFolder } from '../../system/make-folder';

interface Dismissed {
  runId: string;
  /** ISO 8601. */
  at: string;
}

/** Longer than the inbox shows what has ended. */
const KEPT_MS = 7 * 24 * 3_600_000;
const MOST = 10_000;

export class DismissedRuns {
  private readonly file: string;
  private read: { runs: ReadonlySet<string>; stamp: string } = { runs: new Set(), stamp: '' };

  constructor(private readonly dataDir: string) {
    this.file = join(dataDir, 'gateway', 'dismissed.json');
  }

  /** Read again when the file has changed. */
  all(): ReadonlySet<string> {
    const stamp = stampOf(this.file);
    if (stamp !== this.read.stamp)
      this.read = { runs: new Set(this.list().map(({ runId }) => runId)), stamp };
    return this.read.runs;
  }

  async add(runId: string): Promise<void> {
    makeFolder(join(this.dataDir, 'gateway'));
    await withLock(`${this.file}.lock`, async () => {
      const since = new Date(Date.now() - KEPT_MS).toISOString();
      const others = this.list().filter((one) => one.at >= since && one.runId !== runId);
      const added: Dismissed = { runId, at: new Date().toISOString() };
      writeJson(this.file, [...others, added].slice(-MOST));
    });
  }

  private list(): Dismissed[] {
    const found = readJson<Dismissed[]>(this.file);
    // A damaged one only shows again what was dismissed.
    return Array.isArray(found) ? found : [];
  }
}
