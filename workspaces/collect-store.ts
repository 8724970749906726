// Removes from the store what no living agent can name.
import { withLock } from '../system/lock';
import { GitFailure } from './git/git-run';
import type { Store } from './git/store';
import { agentsKept, deleteRefs } from './record/keepers';
import { WorkspaceFolder } from './record/workspace-state';

/** Files of that size are not compared with each other to save room: it takes long. */
const REPACK = ['-c', 'core.bigFileThreshold=4m', 'repack', '-q', '-d'];

/** Their checkpoints stay no longer. The objects are removed by the next `collectStore`. */
export async function releaseAgents(store: Store, agents: ReadonlySet<string>): Promise<number> {
  const kept = await agentsKept(store.git);
  const gone = [...agents].filter((agent) => kept.has(agent));
  if (gone.length === 0) return 0;
  // First what would continue the refs.
  for (const workspace of WorkspaceFolder.all(store.folder))
    await withLock(workspace.lock, async () => workspace.dropKeeper(agents));
  await deleteRefs(
    store.git,
    gone.flatMap((agent) => kept.get(agent) ?? []),
  );
  return gone.length;
}

/** Removes all objects that no ref leads to. */
export async function collectStore(store: Store): Promise<{ bytes: number }> {
  const before = store.bytes();
  await store.alone(async () => {
    await store.git.run([...REPACK, '-a']);
    await store.git.run(['prune', '--expire=now']);
  });
  store.sweep();
  await forgetLost(store);
  return { bytes: Math.max(0, before - store.bytes()) };
}

/** Joins small packs into larger ones. Nothing is lost meanwhile, so others may go on. */
export async function joinPacks(store: Store): Promise<void> {
  try {
    await store.adding(async () => void (await store.git.run([...REPACK, '--geometric=2'])));
  } catch (err) {
    // On a full disk, what it leaves takes the rest of the disk.
    if (err instanceof GitFailure) store.sweep();
    throw err;
  }
}

/** A workspace whose last checkpoint is gone is recorded anew. */
async function forgetLost(store: Store): Promise<void> {
  for (const workspace of WorkspaceFolder.all(store.folder))
    await withLock(workspace.lock, async () => {
      const last = workspace.stored()?.last;
      if (!last) return;
      const found = await store.git.run(['cat-file', '--batch-check'], {
        input: Buffer.from(`${last.commit}\n`),
      });
      if (/missing/.test(found.toString())) workspace.forget();
    });
}
