// What all HTTP providers share: the key, the limits, the errors, the cost. Each wire protocol does the rest. Only
// Temporal retries.
import { classifyError } from './classify-error';
import { readAccess, type Access } from './access';
import { CallLimits } from './call-limits';
import { usageOf, type Tokens } from './cost';
import { withAnswers } from './answered-calls';
import type { ModelProvider, ModelRequest, RawReply } from '../provider';
import type { ModelSettings, ProviderSettings } from '../model-settings';

export interface WireCall extends ModelRequest {
  /** The provider's name for the model. */
  name: string;
  access: Access;
  fetch: CallLimits['fetch'];
  /** Whether the stream ended within an event. */
  isCut: CallLimits['isCut'];
  requestMs: number;
  maxOutputTokens: number | undefined;
  /** Model and schema of an answer, as text, that the server does not take; the same set for all calls of a process. */
  refusedSchemas: Set<string>;
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
  refusedSchemas: WireCall['refusedSchemas'];
  /** Loads the protocol and its SDK, when the first call needs it. */
  protocol: () => Promise<WireProtocol>;
}

export function httpProvider({
  model,
  name,
  provider,
  settings,
  refusedSchemas,
  protocol,
}: HttpModel): ModelProvider {
  const { window, maxOutputTokens, prices, images: seesImages = true } = settings;
  return {
    dialect: 'native',
    seesImages,
    ...(window !== undefined && { window }),
    async check() {
      readAccess(model, provider);
    },
    async reply(request) {
      const access = readAccess(model, provider);
      const ask = await protocol();
      const limits = new CallLimits(request.signal, provider);
      const { fetch, signal, isCut } = limits;
      const messages = withAnswers(request.messages);
      const { requestMs } = provider;
      try {
        // In other dialects a call is text, which an answer schema would forbid.
        const outputSchema = request.tools && request.outputSchema;
        const call = { ...request, messages, name, access, fetch, signal, isCut, requestMs, maxOutputTokens };
        const { tokens, ...reply } = await ask({ ...call, outputSchema, refusedSchemas });
        return { ...reply, ...(tokens && { usage: usageOf(tokens, prices) }) };
      } catch (err) {
        // The caller that cancelled does not wait for a reason.
        if (request.signal.aborted) throw request.signal.reason;
        const address = access.baseUrl ?? 'its own address';
        throw classifyError(err, { model, address, secrets: access.secrets, limit: limits.hit });
      } finally {
        limits.clear();
      }
    },
  };
}
