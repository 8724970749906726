// Registers the search attributes where the server allows it; the embedded one has them from its start.
import type { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTE_TYPES } from '../contracts/messages';

/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE_TYPES = { Keyword: 2, Int: 3 } as const;

export async function registerSearchAttributes(client: Client): Promise<void> {
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTE_TYPES)
    .filter(([name]) => customAttributes[name] === undefined)
    .map(([name, type]) => [name, INDEXED_VALUE_TYPES[type]] as const);
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) });
}
