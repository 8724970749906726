// What a provider sent as a whole, before a protocol reads it: an error in place of an answer is reported in its own words,
// whatever the status.
import { isOfNetwork, isSyntaxError, ReportedError, UnexpectedAnswer } from '../classify-error';
import type { WireCall } from '../wire-protocol';
import { isObject } from '../../dialects/json-text';
import { fieldsOf, textOf, type Fields } from './untrusted';
import { beginningOf } from '../../../contracts/text/well-formed';

const LOOK = 'look at base_url and wire_api';
const SHOWN_CHARACTERS = 200;

/** The object that an answer should be. Throws ReportedError and UnexpectedAnswer. */
export function answerFields(answer: unknown): Fields {
  if (isObject(answer)) {
    throwReported(answer);
    return answer;
  }
  if (answer === undefined || answer === null || answer === '')
    throw new UnexpectedAnswer(`the answer is empty; ${LOOK}`);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  throw new UnexpectedAnswer(
    `got an answer that begins with ${JSON.stringify(beginningOf(text, SHOWN_CHARACTERS))}, allowed a JSON object; ${LOOK}`,
  );
}

export const outsideProtocol = (what: string): UnexpectedAnswer =>
  new UnexpectedAnswer(`the answer has no ${what}; ${LOOK}`);

/** Throws the error that an answer, or a part of it, reports. */
export function throwReported(answer: Fields): void {
  const { error } = answer;
  if (isObject(error) && Object.keys(error).length > 0) throw new ReportedError(error);
  if (textOf(error) !== '') throw new ReportedError({ message: error });
  if (answer.object === 'error') throw new ReportedError(answer);
}

/** A request of either SDK. */
interface Sent<Data> {
  asResponse(): Promise<Response>;
  withResponse(): Promise<{ data: Data; response: Response }>;
}

/** What a server sent. The SDKs do not read it: they expect it to match their types. */
export const wholeOf = async (sent: Pick<Sent<unknown>, 'asResponse'>): Promise<unknown> =>
  bodyOf(await sent.asResponse());

const EVENTS = /^\s*text\/event-stream\b/i;
const NO_EVENTS = /^\s*(application\/([^;]*\+)?json|text\/html)\b/i;

/** The events of a stream until the signal, or what the server sent in place of one. */
export async function streamOf(
  sent: Sent<AsyncIterable<unknown>>,
  call: Pick<WireCall, 'signal' | 'isCut'>,
): Promise<{ events: AsyncIterable<Fields> } | { whole: unknown }> {
  const { data, response } = await sent.withResponse();
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || NO_EVENTS.test(type)) return { whole: await bodyOf(response) };
  const events = fieldsOfEach(data, call);
  if (EVENTS.test(type)) return { events };
  // Some servers stream under another type. Only the copy can be read as a whole once the SDK has looked for events.
  const copy = response.clone();
  const first = await events.next();
  if (first.done === true) {
    const whole = await bodyOf(copy);
    return isSilent(whole) || (call.isCut() && isBegun(whole)) ? { events } : { whole };
  }
  // Settles when the stream ends.
  void copy.body?.cancel().catch(() => undefined);
  return { events: followedBy(first.value, events) };
}

/**
 * The events of an answer that counts once it is complete, whatever becomes of the connection. Reads on until the end: the
 * usage may come last, and a connection whose answer is read to the end can be used again.
 */
export async function* eventsOf(
  events: AsyncIterable<Fields>,
  isComplete: () => boolean,
): AsyncGenerator<Fields> {
  try {
    yield* events;
  } catch (err) {
    if (!isComplete() || !isOfNetwork(err)) throw err;
  }
}

/** Nothing came but comments: a stream that was cut before its first event. */
const isSilent = (body: unknown): boolean =>
  typeof body === 'string' && body.split('\n').every((line) => /^(:.*)?\r?$/.test(line));

/** It begins as an event does. */
const isBegun = (body: unknown): boolean =>
  typeof body === 'string' && /^\s*(event|data|id|retry|):/.test(body);

async function* followedBy(first: Fields, rest: AsyncGenerator<Fields>): AsyncGenerator<Fields> {
  try {
    yield first;
    yield* rest;
  } finally {
    // Also where the first one ends the reading.
    await rest.return(undefined);
  }
}

/** JSON, whatever its content type says; anything else is a text. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function* fieldsOfEach(
  events: AsyncIterable<unknown>,
  { signal, isCut }: Pick<WireCall, 'signal' | 'isCut'>,
): AsyncGenerator<Fields> {
  try {
    for await (const event of events) {
      signal.throwIfAborted();
      yield fieldsOf(event);
    }
  } catch (err) {
    // An event that the body ends in does not count, but OpenAI's SDK reads it.
    if (!isSyntaxError(err) || !isCut()) throw err;
  }
}
