// The activities that an agent itself asks for, beside its turns.
import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../../contracts/activities';

/** May take long: a model call, or many sessions. */
export const { closeSessions, compact, resetSessions } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

export const { openSessions, readTranscript } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 5 },
});
