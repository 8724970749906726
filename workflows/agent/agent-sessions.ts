// What an agent does to all of its sessions at once.
import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities, CloseSessionsInput } from '../../contracts/activities';
import { label } from '../../contracts/text/labels';

const activities = proxyActivities<AgentActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});

export const closeSessions = (of: CloseSessionsInput): Promise<void> =>
  activities.closeSessions.executeWithOptions({ summary: label(`close the sessions: ${of.reason}`) }, [of]);

export const resetSessions = (of: CloseSessionsInput): Promise<void> =>
  activities.resetSessions.executeWithOptions({ summary: label(`reset the sessions: ${of.reason}`) }, [of]);
