// What all HTTP providers share: the key, the limits, the errors, the cost. Each wire protocol does the rest. Only
// Temporal repeats a request.
import { classifyError } from './classify-error';
import { readAccess, type Access } from './access';
import { CallLimits } from './call-limits';
import { usageOf, type Tokens } from './cost';
import { withAnswers } from './answered-calls';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { ModelProvider, ModelRequest, RawReply } from '../provider';
import type { ModelSettings, ProviderSettings } from '../model-settings';

export interface WireCall extends ModelRequest {
  /** The provider's name for the model. */
  name: string;
  access: Access;
  fetch: CallLimits['fetch'];
  requestMs: number;
  maxOutputTokens: number | undefined;
}

export type WireReply = Omit<RawReply, 'usage'> & { tokens?: Tokens | undefined };

/** Asks once. Throws the SDK's errors. */
export type WireProtocol = (call: WireCall) => Promise<WireReply>;

export interface HttpModel {
  /** `provider:name`, as shown in errors. */
  model: string;
  name: string;
  provider: ProviderSettings;
  settings: ModelSettings;
  /** Model and schema of an answer, as text: the same set for all calls of a process. */
  refusedSchemas: Set<string>;
  /** Loads the protocol and its SDK, when the first call needs it. */
  protocol: () => Promise<WireProtocol>;
}

export function httpProvider(http: HttpModel): ModelProvider {
  const { model, provider, settings, refusedSchemas } = http;
  const { window, images: seesImages = true } = settings;
  return {
    dialect: 'native',
    seesImages,
    ...(window !== undefined && { window }),
    async check() {
      readAccess(model, provider);
    },
    async reply(request) {
      // In other dialects a call is text, which an answer schema would forbid.
      const { outputSchema, ...free } = request;
      const schema = request.tools && outputSchema && `${model} ${JSON.stringify(outputSchema)}`;
      if (schema === undefined || refusedSchemas.has(schema)) return ask(http, free);
      try {
        return await ask(http, request);
      } catch (err) {
        if (!(err instanceof HoldfastError) || err.code !== 'model_bad_request') throw err;
        // A server may take no schema, or not this one. The instructions have it, too, and the answer is checked.
        const reply = await ask(http, free);
        if (refusedSchemas.size < MAX_REFUSED) refusedSchemas.add(schema);
        return reply;
      }
    },
  };
}

/** A schema may be large. */
const MAX_REFUSED = 100;

/** Throws an error of the catalogue. */
async function ask(
  { model, name, provider, settings, protocol }: HttpModel,
  request: ModelRequest,
): Promise<RawReply> {
  const access = readAccess(model, provider);
  const send = await protocol();
  const limits = new CallLimits(request.signal, provider);
  const { fetch, signal } = limits;
  const messages = withAnswers(request.messages);
  const { requestMs } = provider;
  const { maxOutputTokens, prices } = settings;
  try {
    const { tokens, ...reply } = await send({
      ...request,
      messages,
      name,
      access,
      fetch,
      signal,
      requestMs,
      maxOutputTokens,
    });
    return { ...reply, ...(tokens && { usage: usageOf(tokens, prices) }) };
  } catch (err) {
    // The caller that cancelled does not wait for a reason.
    if (request.signal.aborted) throw request.signal.reason;
    const address = access.baseUrl ?? 'its own address';
    throw classifyError(err, { model, address, secrets: access.secrets, limit: limits.hit });
  } finally {
    limits.clear();
  }
}
