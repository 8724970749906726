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
 * A limit for all attempts, of which each goes on where the one before ended: it has room for six requests of ten minutes,
 * and what an attempt would break off is paid for.
 */
export const { compact } = proxyActivities<AgentActivities>({
  scheduleToCloseTimeout: '1 hour',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

export const { openSessions, readTranscript } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 5 },
});
