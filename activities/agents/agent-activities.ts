// The agent's activities: model, tools, sessions. They run on `holdfast`.
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo, heartbeat, log } from '@temporalio/activity';
import { grpcCode, UNIMPLEMENTED } from '../../client/delivery/grpc-code';
import { ofAgent, openWorkflows } from '../../client/agents/list-open';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { SessionHandle } from '../../client/session-handle';
import type {
  AgentActivities,
  CloseSessionsInput,
  OpenSessionsInput,
  ReadTranscriptInput,
  ResetSessionsInput,
} from '../../contracts/activities';
import type { Message, ToolCall } from '../../contracts/agents/agent';
import type { Compaction, ModelCall, SummaryCall, SummaryProgress } from '../../contracts/models/model-call';
import type { PlannedReply } from '../../contracts/models/model-reply';
import { providerOf } from '../../contracts/models/reply-extras';
import { wellFormed } from '../../contracts/text/well-formed';
import type { Place } from '../../contracts/tools/approvals';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import {
  hostNameOf,
  agentWorkflowId,
  parseSessionWorkflowId,
  sessionWorkflowId,
  type SessionRef,
} from '../../contracts/ids';
import type { ImageRef } from '../../contracts/tools/images';
import { WORKFLOWS } from '../../contracts/messages';
import { visibleMessages } from '../../contracts/agents/visible-messages';
import { checkedAnswer } from '../../models/answer-schema';
import { compactionRequests } from '../../models/compaction';
import { refusedAnswer } from '../../models/model-refusal';
import { parsedReply, writtenReply } from '../../models/parsed-reply';
import type { FindDialect } from '../../models/dialects/dialects';
import type { FindProvider } from '../../models/providers';
import { systemPrompt } from '../../models/system-prompt';
import type { ToolRegistry } from '../../tools/registry';
import { beating } from '../beating';
import type { CancelledCalls } from '../cancelled-calls';
import { fitReply } from '../blobs/fit-payload';
import type { ImageStore } from '../blobs/image-store';
import { adoptImages } from './adopt-images';
import { askProvider } from './ask-provider';
import { askWithImages, canSee } from './ask-with-images';
import type { LiveTokens } from './live-tokens';
import type { ModelMeter } from './model-meter';
import type { QuotaGate } from './quota-gate';
import type { ToolRulings } from '../tools/tool-ruling';
import { mayChangeFiles } from './may-change-files';
import { withOwnExtras } from './own-extras';
import { planSpawns } from './plan-spawns';
import { prepareCalls } from './prepare-calls';
import { summaryOf } from './summary';
import type { Transcripts } from './transcripts';

/** An agent ends when its shells are gone; if their host is offline, it does not wait for ever. */
const CLOSE_MS = 20_000;
/** Messages per page when a conversation is copied from another. */
const COPIED_MESSAGES = 200;

export interface AgentDependencies {
  client: HoldfastClient;
  tools: ToolRegistry;
  findProvider: FindProvider;
  findDialect: FindDialect;
  tokens: LiveTokens;
  rulings: ToolRulings;
  transcripts: Transcripts;
  models: ModelMeter;
  quota: QuotaGate;
  cancelled: CancelledCalls;
  /** Whether steps in this place end with a checkpoint of its files, as far as is known here. */
  hasCheckpoints: (place: Place) => Promise<boolean>;
  images: ImageStore;
}

export function createAgentActivities(dependencies: AgentDependencies): AgentActivities {
  const { client, tools, findProvider, findDialect, tokens, rulings, transcripts, models, quota, images } =
    dependencies;
  const { hasCheckpoints, cancelled } = dependencies;
  const conversationOf = async ({ agent, turn, earlier }: SummaryCall): Promise<Message[]> => {
    const before = { workflowId: agentWorkflowId(agent), ...earlier };
    // Also what was recorded as it came: a provider would refuse every call of the conversation.
    return wellFormed([...(await transcripts.read(before)), ...(await transcripts.read(turn))]);
  };
  return {
    callModel: (input: ModelCall) =>
      cancelled.beating(
        input.key,
        async (signal): Promise<PlannedReply> => {
          const { agent, model, tools: allowed, turn, outputSchema } = input;
          const provider = findProvider(model);
          const dialect = findDialect(input.dialect ?? provider.dialect ?? 'agent-json');
          const messages = await conversationOf(input);
          await tools.settled();
          const described = tools.describe();
          const read = (image: ImageRef): Promise<string> => images.read(agent, image, signal);
          const asked = { model, provider, attempt: activityInfo().attempt };
          const visible = withOwnExtras(visibleMessages(messages), model);
          const asking = { ...asked, dialect, messages: visible, read };
          const isOfUse = (name: string): boolean => canSee(asking) || tools.find(name).needsSight !== true;
          const offered = described.filter(({ name }) => (allowed?.includes(name) ?? true) && isOfUse(name));
          const request = {
            system: wellFormed(systemPrompt(input, dialect.instructions(offered))),
            ...(dialect.isNative && { tools: offered }),
            ...(outputSchema && { outputSchema }),
            signal,
            onRemark: (remark: string): void => {
              log.warn(remark, { agent, model });
            },
          };
          const call = { agent, turn: turn.workflowId };
          await quota.admit(input);
          const raw = await models.measure(model, signal, () =>
            tokens.during(call, (watched) => askWithImages(asking, { ...request, ...watched })),
          );
          await quota.count(input, raw.usage);
          const place = { host: hostNameOf(input), cwd: input.cwd ?? null };
          const preparation = {
            tools,
            allowed,
            key: input.key,
            ruled: ({ tool, args }: ToolCall) => rulings.of({ agent, tool, args, place }),
          };
          const reading = { tools: offered, isJson: outputSchema !== undefined };
          const parsed = raw.isRefusal
            ? refusedAnswer(raw)
            : checkedAnswer(
                await prepareCalls(parsedReply(raw, dialect, reading), preparation),
                outputSchema,
              );
          const { usage, extras: data } = raw;
          const { window } = provider;
          const reply = fitReply({
            text: writtenReply(raw),
            parsed,
            ...(usage && { usage }),
            ...(data && { extras: { provider: providerOf(model), data } }),
            ...(window && { window }),
          });
          const planning = { tools, allowed, model, key: input.key };
          const plans = await planSpawns(reply.parsed, planning);
          const isRecorded = mayChangeFiles(reply.parsed, tools) && (await hasCheckpoints(place));
          return { ...reply, ...(plans && { plans }), ...(isRecorded && { checkpoint: true }) };
        },
        () => tokens.writtenFor(input.agent),
      ),

    compact: (input: SummaryCall) => {
      const info = activityInfo();
      const { attempt, retryPolicy } = info;
      let progress = (info.heartbeatDetails as SummaryProgress | undefined) ?? { used: [] };
      return cancelled.beating(
        input.key,
        async (signal): Promise<Compaction> => {
          const { model } = input;
          const provider = findProvider(model);
          const requests = compactionRequests(visibleMessages(await conversationOf(input)), provider.window);
          // Once a request is paid for, a wait would pay for it again.
          if (progress.used.length === 0) await quota.admit(input);
          const isLastAttempt = attempt === retryPolicy?.maximumAttempts;
          return summaryOf(requests, {
            progress,
            ask: (request) =>
              models.measure(model, signal, () =>
                askProvider({ model, provider, attempt }, { ...request, signal }),
              ),
            keep: (next) => heartbeat((progress = next)),
            count: (used) => quota.count(input, used.at(-1), used.length),
            takesCut: (err) =>
              input.takesCut === true && (isLastAttempt || (err instanceof HoldfastError && !err.retryable)),
          });
        },
        () => progress,
      );
    },

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
        // One that cannot be told keeps none of the others open.
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
