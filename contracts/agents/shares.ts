// How agents share workers: Temporal's task queues take turns between fairness keys. Pure.
import type { Priority } from '@temporalio/common';

/**
 * For the start of an agent. The server hands it on, to the activities and children of a workflow and to its next run, and so
 * to all of a tree of agents.
 */
export const shareOf = (tenant: string): Priority => ({ fairnessKey: tenant });
