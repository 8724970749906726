// The calls of `spawn_agent` that a turn made itself: it asked its agent by signal, and was answered by one.
import type { SpawnAgentsSignal } from '../../contracts/schemas/agent-signals';
import type { AgentsSpawnedSignal } from '../../contracts/agents/sub-agents';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../../contracts/messages/to-agents';
import { firstOf } from './read-payloads';
import { timeOf, type Run } from './read-runs';

export interface Spawned {
  key: string;
  /** In milliseconds since 1970. */
  at: number;
  /** Null until the agent has answered. */
  until: number | null;
  /** The agent refused to start it. */
  isRefused: boolean;
}

export async function spawnsOfTurn(run: Run): Promise<Spawned[]> {
  const spawned = new Map<string, Spawned>();
  for (const event of run.events) {
    const at = timeOf(event.eventTime);
    const sent = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
    if (sent?.signalName === AGENT_MESSAGES.spawnAgents.name) {
      const { client } = run;
      const to = { client, workflowId: sent.workflowExecution?.workflowId ?? '' };
      const { agents = [] } = (await firstOf<SpawnAgentsSignal>(to, sent.input?.payloads)) ?? {};
      for (const { key } of agents) spawned.set(key, { key, at, until: null, isRefused: false });
    }
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName !== TURN_MESSAGES.agentsSpawned.name) continue;
    const { agents = [] } = (await firstOf<AgentsSpawnedSignal>(run, signal.input?.payloads)) ?? {};
    for (const { key, fault } of agents) {
      const asked = spawned.get(key);
      if (asked) Object.assign(asked, { until: at, isRefused: fault !== undefined });
    }
  }
  return [...spawned.values()];
}
