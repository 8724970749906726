// The agent's activities: model, transcripts, sessions. They run on `holdfast`.
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { ofAgent, openWorkflows } from '../../client/agents/list-open';
import { grpcCode, UNIMPLEMENTED } from '../../client/delivery/grpc-code';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { SessionHandle } from '../../client/session-handle';
import type {
  AgentActivities,
  CloseSessionsInput,
  OpenSessionsInput,
  ReadTranscriptInput,
  ResetSessionsInput,
} from '../../contracts/activities';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { parseSessionWorkflowId, sessionWorkflowId, type SessionRef } from '../../contracts/ids';
import { WORKFLOWS } from '../../contracts/messages';
import { beating } from '../beating';
import { adoptImages } from './adopt-images';
import { ModelSteps, type ModelStepsOptions } from './model-steps';

/** An agent ends when its shells are gone; if their host is offline, it does not wait for ever. */
const CLOSE_MS = 20_000;
/** Messages per page when a conversation is copied from another. */
const COPIED_MESSAGES = 200;

export interface AgentDependencies extends ModelStepsOptions {
  client: HoldfastClient;
}

export function createAgentActivities(dependencies: AgentDependencies): AgentActivities {
  const { client, quota, images } = dependencies;
  const model = new ModelSteps(dependencies);
  return {
    callModel: (input) => model.call(input),
    compact: (input) => model.compact(input),
    awaitQuota: () => quota.waitForRoom(),

    readTranscript: async ({ agent, runId, from, to }: ReadTranscriptInput) => {
      const limit = Math.min(to - from, COPIED_MESSAGES);
      return adoptImages(await client.agent(agent).page({ from, limit }, runId), { from: agent, images });
    },

    openSessions: ({ agent, host, cwd, sessions }: OpenSessionsInput) =>
      beating(async () => {
        const settings = cwd === null ? {} : { cwd };
        await Promise.all(
          sessions.map((session) => client.session({ agent, host, session }, settings).open()),
        );
      }),

    closeSessions: ({ agent, host, sessions, reason }: CloseSessionsInput) =>
      beating(async () => {
        const all = await sessionsOf(client, { agent, host, sessions });
        // One that cannot be notified keeps none of the others open.
        const ends = await Promise.allSettled(all.map((ref) => closeSession(client.session(ref), reason)));
        const failed = ends.find((end) => end.status === 'rejected');
        if (failed) throw failed.reason;
      }),

    resetSessions: ({ agent, host, sessions, reason }: ResetSessionsInput) =>
      beating(async () => {
        const all = await sessionsOf(client, { agent, host, sessions });
        const { workflowExecution, activityId } = activityInfo();
        // The same in each attempt: a command that has begun since in a session that was reset lives on.
        const id = `${workflowExecution?.runId}/${activityId}/reset`;
        await Promise.all(all.map((ref) => ifItIsThere(() => client.session(ref).reset({ id, reason }))));
      }),
  };
}

const closeSession = (session: SessionHandle, reason: string): Promise<void> =>
  ifItIsThere(async () => {
    await session.close(reason);
    // What keeps it from ending must not keep its agent from that.
    const closed = session.closed().catch(() => undefined);
    await Promise.race([closed, delay(CLOSE_MS, undefined, { ref: false })]);
  });

/** The session may never have been opened, or may be closed already. */
async function ifItIsThere(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (err) {
    const { code } = err instanceof HoldfastError ? err : { code: null };
    if (code !== 'not_found' && code !== 'session_closed') throw err;
  }
}

/** Fewer than the activity has. */
const LIST_ATTEMPTS = 4;

/**
 * The sessions that its turns named, and those that a turn opened but could not report, because it was terminated or
 * they are on other hosts.
 */
async function sessionsOf(
  client: HoldfastClient,
  { agent, host, sessions }: Pick<CloseSessionsInput, 'agent' | 'host' | 'sessions'>,
): Promise<SessionRef[]> {
  const found = new Map(
    sessions.map((session) => ({ agent, host, session })).map((ref) => [sessionWorkflowId(ref), ref]),
  );
  // Where the server cannot list for long, those that are known are closed: the agent's result is worth more.
  const mayTryAgain = activityInfo().attempt < LIST_ATTEMPTS;
  try {
    const listed = await client.namespaces.found((one) =>
      openWorkflows(one, [WORKFLOWS.execSession], ofAgent(agent)),
    );
    for (const { one } of listed.found) {
      const ref = parseSessionWorkflowId(one.workflowId);
      if (ref) found.set(one.workflowId, ref);
    }
    const [unread] = listed.unread;
    if (unread && mayTryAgain) throw unread.reason;
  } catch (err) {
    if (mayTryAgain && grpcCode(err) !== UNIMPLEMENTED) throw err;
  }
  return [...found.values()];
}
