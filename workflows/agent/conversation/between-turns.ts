// The activities that an agent itself asks for, beside its turns.
import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../../contracts/activities';

/** May take long: there may be many sessions. */
export const { closeSessions, resetSessions } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

/**
 * An attempt has room for six requests of ten minutes: what it would break off is paid for. The next one goes on where it
 * ended. No limit for all: a worker may be away for hours.
 */
export const { compact } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

export const { openSessions, readTranscript } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 5 },
});
