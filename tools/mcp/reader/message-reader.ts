// Reads what a server sends, before the SDK's client does. That one drops a message with one field that it does not expect:
// the call that the message answers would wait for its time-out, and what became of it would not be known. So everything
// that is an answer becomes one that the client takes, if only to say that it cannot be read.
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { fieldsOf, isObject, jsonText, textOf, type Fields } from './fields';
import { parseJson } from './server-json';

const INTERNAL_ERROR = -32_603;
/** Matches a text that is no JSON but was meant as an answer. */
const IS_ANSWER = /"jsonrpc"/;
const HAS_METHOD = /"method"\s*:/;
const NAMES_ID = /"id"\s*:\s*"?(\d+)/;

export class MessageReader {
  /** Requests that have not been answered. */
  private readonly pending = new Map<RequestId, JSONRPCRequest>();

  /** To be called with everything that the client sends. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.pending.set(message.id, message);
    else if (message.method === 'notifications/cancelled') this.forget(message.params?.requestId);
  }

  forget(id: unknown): void {
    this.pending.delete(id as RequestId);
  }

  /**
   * The messages of a text: one, or a batch.
   * @param own the request that the text answers, if its transport knows
   * @throws SyntaxError for a text that is no message, such as a greeting
   */
  read(text: string, own?: RequestId): JSONRPCMessage[] {
    let given: unknown;
    try {
      given = parseJson(text);
    } catch (err) {
      const id =
        IS_ANSWER.test(text) && !HAS_METHOD.test(text) ? this.answered(namedId(text), own) : undefined;
      if (id === undefined) throw err;
      return [this.unreadable(id, `its answer is not JSON: ${(err as Error).message}`)];
    }
    return (Array.isArray(given) ? given : [given]).map((each) => this.messageOf(each, own));
  }

  private messageOf(given: unknown, own?: RequestId): JSONRPCMessage {
    const message = fieldsOf(given);
    if (!message || !isObject(given)) throw new SyntaxError(`got ${kindOf(given)} where a message belongs`);
    const { method, params } = message;
    if (typeof method === 'string') {
      const rest = isObject(params) || Array.isArray(params) ? { params: withoutMeta(params) } : {};
      const id = idOf(message.id);
      return { jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...rest };
    }
    const id = this.answered(idOf(message.id), own);
    if (id === undefined) throw new SyntaxError(`got an answer to no request: ${jsonText(given)}`);
    const { error } = message;
    if (error !== undefined && error !== false) return this.answer(id, { error: errorOf(error) });
    if (!('result' in given) && !('error' in given))
      return this.unreadable(id, 'its answer has neither a result nor an error');
    return this.answer(id, { result: this.resultOf(given.result, this.pending.get(id)) });
  }

  /** The request that an answer belongs to: without an id, the only one that it can. */
  private answered(id: RequestId | undefined, own: RequestId | undefined): RequestId | undefined {
    // The client counts, and takes a number as a text for one.
    if (id !== undefined) return this.pending.has(Number(id)) ? Number(id) : id;
    const [only, ...others] = [...this.pending.keys()];
    return own ?? (others.length === 0 ? only : undefined);
  }

  private answer(id: RequestId, answer: { result: unknown } | { error: unknown }): JSONRPCMessage {
    this.pending.delete(id);
    return { jsonrpc: '2.0', id, ...answer } as JSONRPCMessage;
  }

  private unreadable(id: RequestId, reason: string): JSONRPCMessage {
    const message = `${reason}. It may have done what it was asked to`;
    return this.answer(id, { error: { code: INTERNAL_ERROR, message } });
  }

  private resultOf(given: unknown, request: JSONRPCRequest | undefined): Fields {
    if (request?.method === 'tools/list' && Array.isArray(given)) return { tools: given };
    if (request?.method === 'tools/call' && !isObject(given)) return { content: given };
    const result = fieldsOf(given) ?? {};
    return request?.method === 'initialize' ? handshakeOf(result, request) : withoutMeta(result);
  }
}

/** Nothing that servers say in it is used, and the client refuses a whole message for a field of the wrong type in it. */
function withoutMeta(value: unknown): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(value) ?? {}).filter(([key]) => key !== '_meta'));
}

/** Only what is used of it. */
function handshakeOf(result: Fields, { params }: JSONRPCRequest): Fields {
  const capabilities = fieldsOf(result.capabilities) ?? {};
  const { name, version } = fieldsOf(result.serverInfo) ?? {};
  const tools = capabilities.tools === true ? {} : fieldsOf(capabilities.tools);
  const listChanged = tools?.listChanged === true;
  return {
    protocolVersion: textOf(result.protocolVersion) ?? params?.protocolVersion,
    capabilities: tools ? { tools: listChanged ? { listChanged } : {} } : {},
    serverInfo: { name: textOf(name) ?? '', version: textOf(version) ?? '' },
  };
}

function errorOf(given: unknown): { code: number; message: string; data?: unknown } {
  const { code: anyCode, message, data } = fieldsOf(given) ?? { message: given };
  const code = Number(anyCode);
  const isCode = anyCode !== undefined && Number.isSafeInteger(code);
  const text = textOf(message) ?? jsonText(given);
  return { code: isCode ? code : INTERNAL_ERROR, message: text, ...(data !== undefined && { data }) };
}

const idOf = (id: unknown): RequestId | undefined =>
  typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : undefined;

function namedId(text: string): RequestId | undefined {
  const [, id] = NAMES_ID.exec(text) ?? [];
  return id === undefined ? undefined : Number(id);
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
