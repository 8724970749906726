// Registers the search attributes where the server allows it; the embedded one has them from its start.
import type { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../contracts/messages';

/** temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;
const INT = 3;

export async function registerSearchAttributes(client: Client): Promise<void> {
  const { agent, host, session } = SEARCH_ATTRIBUTES;
  const connection = client.connection as Connection;
  const wanted = { [agent]: KEYWORD, [host]: KEYWORD, [session]: INT };
  const { namespace } = client.options;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(wanted).filter(([name]) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing),
  });
}
