// Removes from the store what no living agent can name.
import { withLock } from '../system/lock';
import { GitFailure } from './git/git-run';
import { checkpointsThere, isWhole, missingOf } from './git/object-reader';
import type { Store } from './git/store';
import { QUICKLY, removeUnreachable } from './git/unreachable-objects';
import { agentsKept, checkpointsLeft, deleteRefs, keepFor, refsKept, type KeptRef } from './record/keepers';
import { WorkspaceFolder } from './record/workspace-state';
import type { WorkspacesOptions } from './workspace-choices';

/** The store of a host, and where it is recorded what it has lost. */
export interface Cleaned extends Pick<WorkspacesOptions, 'log'> {
  store: Store;
}

/** The agents for which it keeps checkpoints. */
export const agentsIn = (cleaned: Cleaned): Promise<Set<string>> =>
  withoutLost(cleaned, async () => new Set((await agentsKept(cleaned.store.git)).keys()));

/**
 * The checkpoints of agents that are gone stay no longer; returns how many agents. The objects are removed by the next
 * `collectStore`.
 */
export async function releaseAgents(
  cleaned: Cleaned,
  isLiving: (agent: string) => boolean | Promise<boolean>,
): Promise<number> {
  const { store } = cleaned;
  const kept = await withoutLost(cleaned, () => agentsKept(store.git));
  const gone = new Set<string>();
  for (const agent of kept.keys()) if (!(await isLiving(agent))) gone.add(agent);
  if (gone.size === 0) return 0;
  // First what would continue the refs.
  await eachWorkspace(store, (workspace) => workspace.dropKeepers((_, agent) => gone.has(agent)));
  return store.alone(async () => {
    // One that has begun again under its id meanwhile may have found its refs as they were.
    for (const agent of gone) if (await isLiving(agent)) gone.delete(agent);
    const now = new Map((await refsKept(store.git)).map(({ ref, object }) => [ref, object]));
    const refs = [...gone].flatMap((agent) => kept.get(agent) ?? []);
    // A rewind of an ended agent adds to its ref, too.
    await deleteRefs(
      store.git,
      refs.filter(({ ref, object }) => now.get(ref) === object),
    );
    return gone.size;
  });
}

/** Removes all objects that no ref leads to. */
export async function collectStore(cleaned: Cleaned): Promise<{ bytes: number }> {
  const { store } = cleaned;
  const before = store.bytes();
  try {
    await withoutLost(cleaned, () => store.alone(() => removeUnreachable(store.git)));
  } finally {
    store.sweep();
  }
  await forgetLost(store);
  return { bytes: Math.max(0, before - store.bytes()) };
}

/** Joins small packs into larger ones. Nothing is lost meanwhile, even if git outlives us, so others may go on. */
export async function joinPacks(store: Store): Promise<void> {
  try {
    await store.adding(
      async () => void (await store.git.run(['repack', '-q', '-d', '--geometric=2'], { settings: QUICKLY })),
    );
  } catch (err) {
    // On a full disk, what it leaves takes the rest of the disk.
    if (err instanceof GitFailure) store.sweep();
    throw err;
  }
}

/** Work that fails if a ref leads to what the store has lost: then it is done again without such refs. */
async function withoutLost<T>(cleaned: Cleaned, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (err) {
    if (!(err instanceof GitFailure) || !(await dropLost(cleaned))) throw err;
    return work();
  }
}

/** Drops the refs that lead to what is lost, and keeps the checkpoints of theirs that are whole. False if there are none. */
async function dropLost({ store, log }: Cleaned): Promise<boolean> {
  const { git } = store;
  const lost: KeptRef[] = [];
  for (const kept of await refsKept(git)) if (!(await isWhole(git, kept.object))) lost.push(kept);
  if (lost.length === 0) return false;
  for (const { object } of lost) {
    const { agent, hashes } = await checkpointsLeft(git, object);
    const whole: string[] = [];
    for (const hash of hashes) if (await isWhole(git, hash)) whole.push(hash);
    await store.adding(async () => keepFor(git, agent, await checkpointsThere(git, whole)));
  }
  const refs = new Set(lost.map(({ ref }) => ref));
  await eachWorkspace(store, async (workspace) => {
    const last = workspace.stored()?.last;
    if (last && !(await isWhole(git, last.commit))) workspace.forget();
    else workspace.dropKeepers(({ ref }) => refs.has(ref));
  });
  await deleteRefs(git, lost);
  log('the store has lost files: the checkpoints that need them are gone', { refs: [...refs] });
  return true;
}

/** A workspace whose last checkpoint is gone is recorded anew. */
async function forgetLost(store: Store): Promise<void> {
  await eachWorkspace(store, async (workspace) => {
    const last = workspace.stored()?.last;
    if (last && (await missingOf(store.git, [last.commit])).length > 0) workspace.forget();
  });
}

async function eachWorkspace(
  store: Store,
  work: (workspace: WorkspaceFolder) => Promise<void> | void,
): Promise<void> {
  for (const workspace of WorkspaceFolder.all(store.folder))
    await withLock(workspace.lock, async () => work(workspace));
}
