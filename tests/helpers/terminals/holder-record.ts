// What a session's holder says of itself: tests freeze it, kill it, or take its socket away.
import type { SessionRef } from '../../../contracts/ids';
import type { HolderRecord } from '../../../exec/client/holder-client';
import { sessionPaths } from '../../../exec/session-paths';
import { readJson } from '../../../system/json-file';

/** Of an engine's or a host's session that is open. */
export function holderRecord({ dataDir }: { dataDir: string }, ref: SessionRef): HolderRecord {
  const record = readJson<HolderRecord>(sessionPaths(dataDir, ref).holder);
  if (!record) throw new Error('the session has no holder');
  return record;
}
