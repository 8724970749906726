// Refs that make checkpoints stay: one for each agent and workspace, whose commits have the checkpoints as parents.
import { createHash, randomBytes } from 'node:crypto';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { bytePath, fromBytes, toBytes } from '../byte-path';
import { GitFailure, type Git } from '../git/git-run';
import { missingOf } from '../git/object-reader';
import type { CommitPlan } from '../git/object-writer';
import { workspaceId, type WorkspaceState } from './workspace-state';

const AGENTS = 'refs/agents/';
const AGENT = 'Agent: ';
const WORKSPACE = 'Workspace: ';

/** Part of a ref's name: git forbids many characters there, and an agent's id may have any. */
export const agentFolder = (agent: string): string =>
  `${AGENTS}${/^[A-Za-z0-9][A-Za-z0-9-]{0,60}$/.test(agent) ? agent : `sha-${createHash('sha256').update(agent).digest('hex').slice(0, 40)}`}`;

/** The agent's ref for this workspace; a new one if the state has none, so that an older one stays as it is. */
export function keeperFor(state: WorkspaceState, agent: string): { plan: CommitPlan['keeper'] } {
  const known = state.keepers.get(agent);
  const ref =
    known?.ref ??
    `${agentFolder(agent)}/${workspaceId(state.cwd).slice(0, 12)}-${randomBytes(4).toString('hex')}`;
  const message = `${AGENT}${agent}\n\n${WORKSPACE}${state.cwd}`;
  return { plan: { ref, tip: known?.tip ?? null, message: bytePath(message) } };
}

/** A ref of the agent that leads to checkpoints of somebody else. */
export async function keepFor(
  git: Git,
  agent: string,
  kept: readonly { hash: string; tree: string }[],
): Promise<void> {
  const last = kept.at(-1);
  if (!last) return;
  const who = 'author Holdfast <> 0 +0000\ncommitter Holdfast <> 0 +0000';
  const parents = kept.map(({ hash }) => `parent ${hash}\n`).join('');
  const commit = `tree ${last.tree}\n${parents}${who}\n\n${AGENT}${agent}\n`;
  const input = Buffer.from(commit);
  const made = fromBytes(await git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { input })).trim();
  // Named by all that it keeps: others may end with the same checkpoint.
  await git.run(['update-ref', `${agentFolder(agent)}/left-${made.slice(0, 16)}`, made]);
}

/** A ref, and the commit that it leads to. */
export interface KeptRef {
  ref: string;
  object: string;
}

/** The refs of all agents, without a look at what they lead to, some of which may be lost. */
export async function refsKept(git: Git, under = AGENTS): Promise<KeptRef[]> {
  const lines = await git.run(['for-each-ref', '--format=%(refname) %(objectname)', under]);
  return lines
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [ref = '', object = ''] = line.split(' ');
      return { ref, object };
    });
}

/** The refs of each agent. Throws `GitFailure` if one of them leads to what is lost. */
export async function agentsKept(git: Git): Promise<Map<string, KeptRef[]>> {
  const lines = await git.run([
    'for-each-ref',
    '--format=%(refname) %(objectname) %(contents:subject)',
    AGENTS,
  ]);
  const agents = new Map<string, KeptRef[]>();
  for (const line of lines.toString('utf8').split('\n').filter(Boolean)) {
    const [ref = '', object = '', ...subject] = line.split(' ');
    const agent = subject.join(' ').slice(AGENT.length);
    agents.set(agent, [...(agents.get(agent) ?? []), { ref, object }]);
  }
  return agents;
}

/** The checkpoints that stay for an agent, the last ones first. */
export async function checkpointsOf(git: Git, agent: string): Promise<string[]> {
  const refs = await refsKept(git, agentFolder(agent));
  return checkpointsIn(
    git,
    refs.map(({ ref }) => ref),
  );
}

/** Whose ref led to a commit, and the checkpoints that can be found from there, some of which may be lost; the last ones last. */
export async function checkpointsLeft(
  git: Git,
  commit: string,
): Promise<{ agent: string; hashes: string[] }> {
  const hashes = new Set<string>();
  let agent = '';
  for (let next: string | undefined = commit; next !== undefined;) {
    if ((await missingOf(git, [next])).length > 0) break;
    const text = fromBytes(await git.run(['cat-file', 'commit', next]));
    const [head = '', title = ''] = text.split('\n\n');
    if (next === commit) agent = toBytes(title.trimEnd()).toString('utf8').slice(AGENT.length);
    const [first, ...others] = [...head.matchAll(/^parent (.+)$/gm)].map(([, parent = '']) => parent);
    for (const hash of first === undefined ? [next] : others.toReversed()) hashes.add(hash);
    next = first;
  }
  return { agent, hashes: [...hashes].toReversed() };
}

/**
 * Throws `workspace_moved` if the agent's checkpoint was taken in another folder than this one: a link to the workspace may
 * lead elsewhere by now. One that was taken of somebody else's folder is for a copy of it.
 */
export async function refuseMoved(
  git: Git,
  { agent, hash, root }: { agent: string; hash: string; root: string },
): Promise<void> {
  const taken = new Set<string>();
  for (const { ref } of await refsKept(git, agentFolder(agent))) {
    const folder = await folderTaken(git, ref, hash);
    if (folder !== undefined) taken.add(folder);
  }
  if (taken.size > 0 && !taken.has(root))
    throw new HoldfastError('workspace_moved', { got: root, allowed: [...taken].join(' or ') });
}

/** Where a ref's checkpoints were taken; undefined if this one is not among them, or if they are lost. */
async function folderTaken(git: Git, ref: string, hash: string): Promise<string | undefined> {
  try {
    if (!(await checkpointsIn(git, [ref])).includes(hash)) return undefined;
    const text = (await git.run(['log', '-1', '--format=%B', ref])).toString('utf8');
    return text.split(`\n\n${WORKSPACE}`)[1]?.replace(/\n+$/, '');
  } catch (err) {
    if (err instanceof GitFailure) return undefined;
    throw err;
  }
}

async function checkpointsIn(git: Git, refs: readonly string[]): Promise<string[]> {
  if (refs.length === 0) return [];
  const lines = fromBytes(await git.run(['log', '--first-parent', '--format=%P', ...refs])).split('\n');
  // Its own last commit and the checkpoint; only the checkpoint at first; none for the checkpoint itself.
  return [...new Set(lines.flatMap((line) => line.split(' ').at(-1) || []))];
}

/** Deletes all of them or, if one leads elsewhere by now, none. */
export async function deleteRefs(git: Git, refs: readonly KeptRef[]): Promise<void> {
  if (refs.length === 0) return;
  await git.run(['update-ref', '--stdin'], {
    input: Buffer.from(refs.map(({ ref, object }) => `delete ${ref} ${object}\n`).join('')),
  });
}
