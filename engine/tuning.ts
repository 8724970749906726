// What we tell the Temporal server about itself. engine/dynamicconfig.yaml says the same to the one of the
// compose file; a test compares them.

/**
 * Dynamic configuration. The development server has one shard and reads a shard's task queue 20 times a second,
 * so that each task waits up to 50 ms; the poll rates end that. Updates carry tool calls: ten in flight and
 * 2,000 a run are too few, and beyond 100,000 the limit on history bites first. The HTTP API, which the development
 * server cannot do without, is shut for everybody: no Host has a slash in it, and any page may post to a port of this
 * machine. What speaks HTTP goes by the guard of the web UI.
 */
export const DYNAMIC_CONFIG: Readonly<Record<string, number | boolean | string[]>> = {
  'history.transferProcessorMaxPollRPS': 5000,
  'history.timerProcessorMaxPollRPS': 5000,
  'history.visibilityProcessorMaxPollRPS': 5000,
  'history.outboundProcessorMaxPollRPS': 5000,
  'system.enableActivityEagerExecution': true,
  'history.maxInFlightUpdates': 1000,
  'history.maxTotalUpdates': 100000,
  'frontend.httpAllowedHosts': ['/'],
};
