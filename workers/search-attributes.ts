// Registers the search attributes if the server allows it; the embedded one has them from the start.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { grpcCode, UNIMPLEMENTED } from '../client/delivery/grpc-code';
import { lacksAttribute } from '../client/delivery/with-attributes';
import { reasonOf } from '../contracts/errors/holdfast-error';
import { SEARCH_ATTRIBUTES, SEARCH_ATTRIBUTE_TYPES } from '../contracts/messages';
import { STATE_PATCH } from '../contracts/agents/work-state';

/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE_TYPES = { Keyword: 2, Int: 3, Datetime: 6, KeywordList: 7 } as const;

/** gRPC: another worker may have registered them first. */
const ALREADY_EXISTS = 6;
/** If it takes longer, agents are started without them, and set them later by themselves. */
const KNOWN_WITHIN_MS = 10_000;
const PAUSE_MS = 100;

export async function registerSearchAttributes(client: Client): Promise<void> {
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  const known = await operatorService.listSearchAttributes({ namespace }).catch(ifCode(UNIMPLEMENTED));
  const missing = Object.entries(SEARCH_ATTRIBUTE_TYPES)
    .filter(([name]) => known?.customAttributes[name] === undefined)
    .map(([name, type]) => [name, INDEXED_VALUE_TYPES[type]] as const);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing);
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(ifCode(ALREADY_EXISTS));
  await untilKnown(client, Object.keys(searchAttributes));
}

/** A server keeps what it knows of a namespace for about two seconds. Until then it refuses starts that have them. */
async function untilKnown(client: Client, names: readonly string[]): Promise<void> {
  const query = names.map((name) => `${name} IS NULL`).join(' AND ');
  for (const until = performance.now() + KNOWN_WITHIN_MS; performance.now() < until;) {
    try {
      await client.workflow.count(query);
      return;
    } catch (err) {
      if (!lacksAttribute(err)) return;
    }
    await delay(PAUSE_MS);
  }
}

/**
 * Workflows that were started without the attributes of their state set them only where the server has these: otherwise
 * each of their tasks would fail.
 */
export const activatesPatch =
  (hasAttributes: boolean): NonNullable<WorkerOptions['patchActivationCallback']> =>
  ({ patchId }) =>
    patchId !== STATE_PATCH || hasAttributes;

/** Whether the server has the attributes that workflows set by themselves; what is in the way is logged, and stops nothing. */
export async function hasStateAttributes(
  client: Client,
  warn: (message: string, facts: { reason: string }) => void,
): Promise<boolean> {
  try {
    await registerSearchAttributes(client);
    return true;
  } catch (err) {
    warn('search attributes could not be registered', { reason: reasonOf(err) });
    return haveOperatorsMade(client).catch(() => false);
  }
}

/** Checks a namespace whose operator registers attributes. */
async function haveOperatorsMade(client: Client): Promise<boolean> {
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const { state, waitsFor, notices, noticedAt } = SEARCH_ATTRIBUTES;
  return [state, waitsFor, notices, noticedAt].every((name) => customAttributes[name] !== undefined);
}

const ifCode =
  (code: number) =>
  (err: unknown): undefined => {
    if (grpcCode(err) !== code) throw err;
  };
