// What all HTTP providers share: the key, the limits, the errors, the cost. Each wire protocol does the rest. Only
// Temporal retries.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { WireApi } from '../../contracts/models/model-names';
import { classifyError, CutStream } from './classify-error';
import { readAccess } from './access';
import { CallLimits } from './call-limits';
import { usageOf } from './cost';
import { withAnswers } from './conversation/answered-calls';
import type { ChatMessage, ModelProvider, ModelRequest, RawReply } from '../provider';
import type { ModelSettings, ProviderSettings } from '../model-settings';
import { askWithTools } from './tools/ask-with-tools';
import type { WireCall, WireProtocol } from './wire-protocol';
import type { RefusedTools } from './tools/refused-tools';

interface CutStreams {
  count: number;
  /** In milliseconds since 1970. */
  last: number;
}

export interface HttpModel {
  /** `provider:name`, as shown in errors. */
  model: string;
  name: string;
  provider: ProviderSettings;
  settings: ModelSettings;
  refused: WireCall['refused'];
  refusedTools: RefusedTools;
  /** How many streams in a row have ended without an end of the answer, by model. */
  cutStreams: Map<string, CutStreams>;
  /** Loads the protocol and its SDK, when the first call needs it. */
  protocol: () => Promise<WireProtocol>;
}

export function httpProvider(http: HttpModel): ModelProvider {
  const { model, provider, settings } = http;
  const { window, images: seesImages = true } = settings;
  return {
    dialect: 'native',
    seesImages,
    ...(window !== undefined && { window }),
    async check() {
      readAccess(model, provider);
    },
    async reply(request) {
      const { cutStreams } = http;
      const unwatched = { ...request, onText: undefined };
      const { count = 0, last = 0 } = cutStreams.get(model) ?? {};
      if (count >= MAX_CUT_STREAMS && Date.now() - last < AVOIDED_MS) return replyOf(http, unwatched);
      try {
        const reply = await replyOf(http, request);
        if (request.onText) cutStreams.delete(model);
        return reply;
      } catch (err) {
        if (!(err instanceof HoldfastError && err.cause instanceof EndlessStream)) throw err;
        cutStreams.set(model, { count: count + 1, last: Date.now() });
        return replyOf(http, unwatched);
      }
    },
  };
}

/** So many in a row are no accident of a network: such a server is asked for whole answers. */
const MAX_CUT_STREAMS = 2;
/** Then it is asked for a stream again: it may be another server by then. */
const AVOIDED_MS = 600_000;

/** A stream that ended between two events, before its answer did. Asked for again, it may end so each time. */
class EndlessStream extends CutStream {}

async function replyOf(http: HttpModel, request: ModelRequest): Promise<RawReply> {
  const { model, name, provider, settings, refused, refusedTools, protocol } = http;
  const { maxOutputTokens, prices } = settings;
  const { requestMs, wireApi } = provider;
  const access = readAccess(model, provider);
  const ask = await protocol();
  const limits = new CallLimits(request.signal, provider);
  const { fetch, signal, isCut, isDone } = limits;
  const messages = withAnswers(request.messages).map((message) => ofWire(message, wireApi));
  try {
    // In other dialects a call is text, which an answer schema would forbid.
    const outputSchema = request.tools && request.outputSchema;
    const call = { ...request, messages, name, access, fetch, signal, isCut, isDone, requestMs };
    const { tokens, extras, ...reply } = await askWithTools(
      { ...call, outputSchema, refused, maxOutputTokens },
      { ask, wireApi, refusedTools },
    );
    const added = extras && { extras: { ...extras, wireApi } };
    return { ...reply, ...added, ...(tokens && { usage: usageOf(tokens, prices) }) };
  } catch (err) {
    // The caller that cancelled does not wait for a reason.
    if (request.signal.aborted) throw request.signal.reason;
    const address = access.baseUrl ?? 'its own address';
    const failure = classifyError(err, { model, address, secrets: access.secrets, limit: limits.hit });
    if (err instanceof CutStream && limits.hit === undefined && !isCut()) failure.cause = new EndlessStream();
    throw failure;
  } finally {
    limits.clear();
  }
}

/** What one protocol read in a reply says nothing in another. */
function ofWire(message: ChatMessage, wireApi: WireApi): ChatMessage {
  if (message.role !== 'assistant' || message.extras?.wireApi === wireApi) return message;
  return { ...message, extras: undefined };
}
