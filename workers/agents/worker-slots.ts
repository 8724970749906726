// How much a worker of agents does at a time.
import { availableParallelism } from 'node:os';

/**
 * Tools wait: for a command's yield, for output. Waiting costs little. A workflow task is work: more of them at a time than
 * a few for each processor are not done sooner, but one of another tenant waits longer behind them.
 */
export const SLOTS = {
  maxConcurrentActivityTaskExecutions: 500,
  maxConcurrentWorkflowTaskExecutions: 4 * Math.max(2, availableParallelism()),
};
