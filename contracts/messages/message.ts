// An entry in a table of messages: all that is known about one message of a workflow. Plain data; schemas are named, not
// imported, so that code that only sends messages loads none.
import type { z } from 'zod/mini';
import type { MessageContent } from '../message-content';
import type * as answers from '../schemas/answers';
import type * as requests from '../schemas/requests';

/** A query came with events that only a workflow task may hand out: it is asked again. Stands in the failure's text. */
export const ASKED_TOO_EARLY = 'asked before the workflow has taken its latest events: ask again';

/** Follows the name of a query to a workflow that has ended. What it had not taken by then it never will. */
export const AFTER_END = ':ended';

export type Kind = 'signal' | 'update' | 'query';

/** Messages from `anyone` are documented; of the others, only this sender sends them. */
export type Sender =
  | 'anyone'
  | 'the agent'
  | 'a sub-agent'
  | 'a turn'
  | 'a session or a turn'
  | 'the host worker'
  | 'the host itself'
  | 'the gateway'
  | 'a worker';

/** Names of the schemas in a module that accept only values of type `T`. */
type SchemaFor<T, Module> = {
  [Name in keyof Module]: Module[Name] extends z.ZodMiniType<T> ? Name : never;
}[keyof Module];

interface Fields<Request, Answer> {
  /** Temporal's name for it. */
  readonly name: string;
  readonly from: Sender;
  /** One line for people. */
  readonly does: string;
  /** Shown after that line. */
  readonly examples?: readonly Request[];
  /** Absent: it carries no data, or its receiver checks it in another way. Queries are documented, not checked. */
  readonly request?: {
    /** In contracts/schemas/requests.ts. */
    readonly schema: SchemaFor<Request, typeof requests>;
    /** What an error calls it. */
    readonly what: string;
    /** Errors show only its keys. */
    readonly isSecret?: boolean;
  };
  /** The schema in contracts/schemas/answers.ts that documents the answer. */
  readonly answer?: SchemaFor<Answer, typeof answers>;
  /** What its id stands for. Default: the whole request. */
  content?(request: Request): MessageContent;
}

/** `Request` is undefined for a message without data. */
export interface Message<Request, Answer, K extends Kind> extends Fields<Request, Answer> {
  readonly kinds: Readonly<Record<K, true>>;
}

/** Any entry of any table. */
export type AnyMessage = Message<unknown, unknown, never>;

export const signal = <Request = undefined>(
  fields: Fields<Request, void>,
): Message<Request, void, 'signal'> => ({ ...fields, kinds: { signal: true } });

export const update = <Request, Answer>(
  fields: Fields<Request, Answer>,
): Message<Request, Answer, 'update'> => ({ ...fields, kinds: { update: true } });

export const signalOrUpdate = <Request, Answer>(
  fields: Fields<Request, Answer>,
): Message<Request, Answer, 'signal' | 'update'> => ({ ...fields, kinds: { signal: true, update: true } });

export const query = <Request, Answer>(
  fields: Fields<Request, Answer>,
): Message<Request, Answer, 'query'> => ({ ...fields, kinds: { query: true } });

export const isPublic = ({ from }: AnyMessage): boolean => from === 'anyone';

/** As Temporal's web UI shows it beside the message. */
export function descriptionOf({ does, examples = [], from }: AnyMessage): string {
  if (from !== 'anyone') return `Internal, from ${from}: ${does}`;
  if (examples.length === 0) return `${does}; no data`;
  return `${does}: ${examples.map((example) => JSON.stringify(example)).join(' or ')}`;
}

export const contentOf = <Request>(
  message: Message<Request, unknown, never>,
  request: Request,
): MessageContent =>
  message.content?.(request) ?? [message.name, ...(request === undefined ? [] : [request])];
