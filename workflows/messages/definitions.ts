// Temporal's definitions of messages, made of their tables. Loads no schema: users bundle them with their own workflows.
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { AnyMessage, Kind, Message } from '../../contracts/messages/message';

/** The web UI and CLI may send no argument at all. */
type Args<Request> = [Request] extends [undefined] ? [] : [Request?];

export const signalOf = <Request>({
  name,
}: Message<Request, unknown, 'signal'>): SignalDefinition<Args<Request>> => defineSignal(name);

/** For each kind, the definition of a message. */
type DefinitionOf<M> =
  M extends Message<infer Request, infer Answer, never>
    ? {
        signal: SignalDefinition<Args<Request>>;
        update: UpdateDefinition<Answer, Args<Request>>;
        query: QueryDefinition<Answer, Args<Request>>;
      }
    : never;

type OfKind<Table, K extends Kind> = {
  [
    Key in keyof Table & string as Table[Key] extends Message<unknown, unknown, K>
      ? `${Key}${Capitalize<K>}`
      : never
  ]: DefinitionOf<Table[Key]>[K];
};
type Definitions<Table> = OfKind<Table, 'signal'> & OfKind<Table, 'update'> & OfKind<Table, 'query'>;

/** Each message's definitions by its key in the table: `sendSignal`, `sendUpdate`, `stateQuery`. */
export function definitionsOf<Table extends Record<string, AnyMessage>>(table: Table): Definitions<Table> {
  const definitions: Record<string, unknown> = {};
  for (const [key, { name, kinds }] of Object.entries(table)) {
    if ('signal' in kinds) definitions[`${key}Signal`] = defineSignal(name);
    if ('update' in kinds) definitions[`${key}Update`] = defineUpdate(name);
    if ('query' in kinds) definitions[`${key}Query`] = defineQuery(name);
  }
  return definitions as Definitions<Table>;
}
