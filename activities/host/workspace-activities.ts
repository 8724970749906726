// The activities of a host that concern workspaces: checkpoints, rewinds, comparisons.
import { Context } from '@temporalio/activity';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { absoluteFolder } from '../../exec/working-folder';
import { sessionsText } from '../../contracts/workspaces/change-texts';
import { fitLines } from '../../contracts/payload-size';
import { REWIND_BEGAN, type WorkspaceActivities } from '../../contracts/workspaces/requests-to-hosts';
import type { HostAccess } from '../../exec/host/host-access';
import type { Terminals } from '../../exec/terminals';
import type { OwnTrees } from '../../workspaces/own/own-trees';
import type { Workspaces } from '../../workspaces/workspaces';
import { beating, briefly } from '../beating';
import type { HostOwnership } from './host-calls';

export interface WorkspaceDependencies {
  host: string;
  ownership: HostOwnership;
  access: HostAccess;
  sessions: Terminals;
  workspaces: Workspaces;
  trees: OwnTrees;
}

/** A comparison is one payload. Of git's bytes, and of the same as JSON. */
const MAX_DIFF_BYTES = 1_000_000;
const MAX_PATHS = 2_000;

export function createWorkspaceActivities(parts: WorkspaceDependencies): WorkspaceActivities {
  const { ownership, access, sessions, workspaces, trees } = parts;
  const folderOf = (cwd: string | null): string => absoluteFolder(cwd ?? sessions.options.cwd);
  return {
    async checkpointWorkspace({ agent, cwd }) {
      return beating(async () => {
        await ownership.confirm();
        access.check('a checkpoint', 'looks');
        return workspaces.checkpoint({ agent, cwd: folderOf(cwd) });
      });
    },

    async rewindWorkspace({ agent, cwd, ...request }) {
      const progress = (): typeof REWIND_BEGAN | undefined => (request.dryRun ? undefined : REWIND_BEGAN);
      return briefly(async () => {
        await ownership.confirm();
        access.check('a rewind', request.dryRun ? 'looks' : 'mutates');
        Context.current().heartbeat(progress());
        return rewind(parts, { agent, cwd: folderOf(cwd), ...request });
      }, progress);
    },

    async keepCheckpoints(kept) {
      return beating(async () => {
        await ownership.confirm();
        access.check('a checkpoint', 'looks');
        return workspaces.keepKnown(kept);
      });
    },

    async compareCheckpoints(compared) {
      return briefly(async () => {
        await ownership.confirm();
        access.check('a comparison', 'looks');
        return compare(workspaces, compared);
      });
    },

    async makeWorkspace({ of, ...wanted }) {
      return beating(async () => {
        await ownership.confirm();
        access.check('a workspace', 'mutates');
        return trees.make({ ...wanted, of: folderOf(of) });
      });
    },

    async leaveWorkspace(left) {
      return beating(async () => {
        await ownership.confirm();
        access.check('the end of a workspace', 'ends');
        return trees.leave(left);
      });
    },
  };
}

async function rewind(
  { host, sessions, workspaces }: WorkspaceDependencies,
  request: Parameters<Workspaces['rewind']>[0],
): ReturnType<WorkspaceActivities['rewindWorkspace']> {
  const { agent } = request;
  const files = await workspaces.rewind(request).catch(async (err: unknown) => {
    if (!(err instanceof HoldfastError) || err.code !== 'workspace_changed') throw err;
    // What runs in the agent's own sessions may have changed the files, and will again.
    const running = await runningOf(sessions, { agent, host });
    throw running.length === 0 ? err : err.withFacts({ running: sessionsText(running) });
  });
  return { files, running: await runningOf(sessions, { agent, host }) };
}

async function compare(
  workspaces: Workspaces,
  { from, to, lines }: Parameters<WorkspaceActivities['compareCheckpoints']>[0],
): ReturnType<WorkspaceActivities['compareCheckpoints']> {
  const changes = await workspaces.changes({ from, to, max: MAX_PATHS });
  if (!lines) return { changes, text: null, isCut: false };
  const diff = await workspaces.diff({ from, to, maxBytes: MAX_DIFF_BYTES });
  // As JSON it is longer: each line end and each quote takes two bytes.
  const text = fitLines(diff.text, MAX_DIFF_BYTES);
  return { changes, text, isCut: diff.isCut || text !== diff.text };
}

/** Sessions of the agent here in which a command runs; one that does not answer counts as running. */
async function runningOf(sessions: Terminals, of: Pick<SessionRef, 'agent' | 'host'>): Promise<number[]> {
  const open = sessions
    .list()
    .filter((ref) => ref.agent === of.agent && ref.host === of.host && sessions.isOpen(ref));
  const states = await Promise.all(
    open.map(async (ref) => {
      try {
        const { command } = await sessions.status(ref);
        return command && command.endedAt === null ? [ref.session] : [];
      } catch (err) {
        if (err instanceof HoldfastError) return [ref.session];
        throw err;
      }
    }),
  );
  return states.flat().sort((a, b) => a - b);
}
