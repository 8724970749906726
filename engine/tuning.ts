// Our configuration of the Temporal server. engine/dynamicconfig.yaml says the same for the compose file's server; a
// test compares them.

/** Dynamic configuration by key. */
export type Settings = Readonly<Record<string, number | boolean | string | string[]>>;

/**
 * Dynamic configuration. The development server has one shard and reads a shard's task queue 20 times a second, so that
 * each task waits up to 50 ms; the poll rates remove that delay. Updates carry tool calls: ten in flight and 2,000 a
 * run are too few, and beyond 100,000 the limit on history applies first. The HTTP API, which the development server
 * cannot do without, is closed to everybody: no Host contains a slash, and any page may post to a port of this machine.
 * HTTP clients go through the guard of the web UI. A client that is silent is asked whether it is still there, and its
 * requests end if it does not answer: by default that takes the server 70 seconds, in which it gives tasks to the open
 * polls of a machine that is frozen or cut off. The development server reads its search attributes from the database for
 * each row of a list and at each change of a workflow, which was most of what its database did; other servers keep them
 * for two seconds.
 */
export const DYNAMIC_CONFIG: Settings = {
  'history.transferProcessorMaxPollRPS': 5000,
  'history.timerProcessorMaxPollRPS': 5000,
  'history.visibilityProcessorMaxPollRPS': 5000,
  'history.outboundProcessorMaxPollRPS': 5000,
  'system.enableActivityEagerExecution': true,
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  'history.maxInFlightUpdates': 1000,
  'history.maxTotalUpdates': 100000,
  'frontend.httpAllowedHosts': ['/'],
  'frontend.keepAliveTime': '3s',
  'frontend.keepAliveTimeout': '3s',
  'matching.enableFairness': true,
};

/** What the server lets us choose of SQLite. */
export type Pragmas = Readonly<Record<'journal_mode' | 'synchronous', string>>;

/**
 * The embedded server's database. By default SQLite makes a journal file for each transaction, flushes it and the
 * database, and deletes it: most of what the server did. With a write-ahead log a transaction is one append and one flush.
 * `full`: what the server has acknowledged outlives a power failure, so that no effect is forgotten and happens again.
 */
export const DATABASE: Pragmas = { journal_mode: 'wal', synchronous: 'full' };
