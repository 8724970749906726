// A model's step: what it is asked, what it answers, and what its calls need before they may run.
import { activityInfo, heartbeat, log } from '@temporalio/activity';
import type { Message, ParsedReply, ToolCall } from '../../contracts/agents/agent';
import { visibleMessages } from '../../contracts/agents/visible-messages';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { agentWorkflowId, hostNameOf } from '../../contracts/ids';
import type { Compaction, ModelCall, SummaryCall, SummaryProgress } from '../../contracts/models/model-call';
import type { PlannedReply } from '../../contracts/models/model-reply';
import { providerOf } from '../../contracts/models/reply-extras';
import { wellFormed } from '../../contracts/text/well-formed';
import type { Place } from '../../contracts/tools/approvals';
import type { ImageRef } from '../../contracts/tools/images';
import type { ToolDescription } from '../../contracts/tools/tools';
import { checkedAnswer } from '../../models/answer-schema';
import { compactionRequests } from '../../models/compaction';
import type { FindDialect } from '../../models/dialects/dialects';
import { refusedAnswer } from '../../models/model-refusal';
import { parsedReply, writtenReply } from '../../models/parsed-reply';
import type { FindProvider } from '../../models/providers';
import type { RawReply } from '../../models/provider';
import { systemPrompt } from '../../models/system-prompt';
import type { ToolRegistry } from '../../tools/registry';
import { fitReply } from '../blobs/fit-payload';
import type { ImageStore } from '../blobs/image-store';
import type { CancelledCalls } from '../cancelled-calls';
import type { ToolRulings } from '../tools/tool-ruling';
import { askProvider } from './ask-provider';
import { askWithImages, canSee, type Asking } from './ask-with-images';
import type { LiveTokens } from './live-tokens';
import { mayChangeFiles } from './may-change-files';
import type { ModelMeter } from './model-meter';
import { withOwnExtras } from './own-extras';
import { planSpawns } from './plan-spawns';
import { prepareCalls } from './prepare-calls';
import type { QuotaGate } from './quota-gate';
import { summaryOf } from './summary';
import type { Transcripts } from './transcripts';

export interface ModelStepsOptions {
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

export class ModelSteps {
  constructor(private readonly of: ModelStepsOptions) {}

  /** Asks the model, and reads its answer. Heartbeats carry what it has written so far. */
  call(input: ModelCall): Promise<PlannedReply> {
    const { cancelled, tokens } = this.of;
    return cancelled.beating(
      input.key,
      async (signal) => {
        const asked = await this.asked(input, signal);
        const raw = await this.answer(input, asked, signal);
        const parsed = await this.read(input, asked, raw);
        return this.planned(input, asked, { raw, parsed });
      },
      () => tokens.writtenFor(input.agent),
    );
  }

  compact(input: SummaryCall): Promise<Compaction> {
    const { findProvider, models, quota, cancelled } = this.of;
    const info = activityInfo();
    const { attempt, retryPolicy } = info;
    let progress = (info.heartbeatDetails as SummaryProgress | undefined) ?? { used: [] };
    return cancelled.beating(
      input.key,
      async (signal): Promise<Compaction> => {
        const { model } = input;
        const provider = findProvider(model);
        const messages = await this.conversationOf(input);
        const requests = compactionRequests(visibleMessages(messages), provider.window);
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
  }

  private async conversationOf({ agent, turn, earlier }: SummaryCall): Promise<Message[]> {
    const { transcripts } = this.of;
    const before = { workflowId: agentWorkflowId(agent), ...earlier };
    // Also what was recorded as it came: a provider would refuse every call of the conversation.
    return wellFormed([...(await transcripts.read(before)), ...(await transcripts.read(turn))]);
  }

  /** The model, its dialect, what it sees of the conversation, and the tools that it is offered. */
  private async asked(input: ModelCall, signal: AbortSignal): Promise<Asked> {
    const { tools, findProvider, findDialect, images } = this.of;
    const { agent, model, tools: allowed } = input;
    const provider = findProvider(model);
    const dialect = findDialect(input.dialect ?? provider.dialect ?? 'agent-json');
    const messages = withOwnExtras(visibleMessages(await this.conversationOf(input)), model);
    await tools.settled();
    const read = (image: ImageRef): Promise<string> => images.read(agent, image, signal);
    const asking = { model, provider, attempt: activityInfo().attempt, dialect, messages, read };
    const isOfUse = (name: string): boolean => canSee(asking) || tools.find(name).needsSight !== true;
    const offered = tools.describe().filter(({ name }) => (allowed?.includes(name) ?? true) && isOfUse(name));
    return { ...asking, offered };
  }

  private async answer(input: ModelCall, asked: Asked, signal: AbortSignal): Promise<RawReply> {
    const { quota, models, tokens } = this.of;
    const { agent, model, turn, outputSchema } = input;
    const { dialect, offered } = asked;
    const request = {
      system: wellFormed(systemPrompt(input, dialect.instructions(offered))),
      ...(dialect.isNative && { tools: offered }),
      ...(outputSchema && { outputSchema }),
      signal,
      onRemark: (remark: string): void => {
        log.warn(remark, { agent, model });
      },
    };
    await quota.admit(input);
    const raw = await models.measure(model, signal, () =>
      tokens.during({ agent, turn: turn.workflowId }, (watched) =>
        askWithImages(asked, { ...request, ...watched }),
      ),
    );
    await quota.count(input, raw.usage);
    return raw;
  }

  /** The answer as the model meant it: its calls checked, repaired and ruled on. */
  private async read(input: ModelCall, { dialect, offered }: Asked, raw: RawReply): Promise<ParsedReply> {
    if (raw.isRefusal) return refusedAnswer(raw);
    const { tools, rulings } = this.of;
    const { agent, key, tools: allowed, outputSchema } = input;
    const reading = { tools: offered, isJson: outputSchema !== undefined };
    const place = placeOf(input);
    const ruled = ({ tool, args }: ToolCall): ReturnType<ToolRulings['of']> =>
      rulings.of({ agent, tool, args, place });
    const prepared = await prepareCalls(parsedReply(raw, dialect, reading), { tools, allowed, key, ruled });
    return checkedAnswer(prepared, outputSchema);
  }

  /** As it is recorded, and what the turn needs to know to carry it out. */
  private async planned(
    { key, model, tools: allowed, ...input }: ModelCall,
    { provider: { window } }: Asked,
    { raw, parsed }: { raw: RawReply; parsed: ParsedReply },
  ): Promise<PlannedReply> {
    const { tools, hasCheckpoints } = this.of;
    const { usage, extras: data } = raw;
    const reply = fitReply({
      text: writtenReply(raw),
      parsed,
      ...(usage && { usage }),
      ...(data && { extras: { provider: providerOf(model), data } }),
      ...(window && { window }),
    });
    const plans = await planSpawns(reply.parsed, { tools, allowed, model, key });
    const isRecorded = mayChangeFiles(reply.parsed, tools) && (await hasCheckpoints(placeOf(input)));
    return { ...reply, ...(plans && { plans }), ...(isRecorded && { checkpoint: true }) };
  }
}

interface Asked extends Asking {
  offered: ToolDescription[];
}

const placeOf = (input: Pick<ModelCall, 'host' | 'cwd'>): Place => ({
  host: hostNameOf(input),
  cwd: input.cwd ?? null,
});
