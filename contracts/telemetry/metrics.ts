// All metrics of ours, in one table: docs/metrics.md, the buckets and the tests are made of it. No label may name an
// agent, a session or anything else that grows with use. Pure.
import type { MetricMeter } from '@temporalio/common';

export interface MetricFacts {
  /** The exporter adds `_total` to the name of a counter. */
  kind: 'counter' | 'gauge' | 'histogram';
  /** The process that reports it. `one worker`: the first of the workers of the agents' queue, for all. */
  from: 'agents' | 'one worker' | 'host' | 'gateway' | 'each process';
  labels: readonly string[];
  help: string;
  /** Upper bounds of a histogram. */
  buckets?: readonly number[];
}

const MOMENTS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const LONG = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

export const METRICS = {
  holdfast_turns: {
    kind: 'counter',
    from: 'agents',
    labels: ['outcome'],
    help: 'Turns that have ended, by how: answered, model_error, time_limit and so on.',
  },
  holdfast_turn_duration_seconds: {
    kind: 'histogram',
    from: 'agents',
    labels: ['outcome'],
    help: 'From the message to the end of its turn, waits for people included.',
    buckets: LONG,
  },
  holdfast_turn_steps: {
    kind: 'histogram',
    from: 'agents',
    labels: ['outcome'],
    help: 'Model calls of a turn.',
    buckets: [1, 2, 3, 5, 10, 20, 50, 100, 200],
  },
  holdfast_step_duration_seconds: {
    kind: 'histogram',
    from: 'agents',
    labels: ['phase'],
    help: 'The two parts of a step: model (asking it, retries included) and tools (running what it called).',
    buckets: LONG,
  },
  holdfast_model_calls: {
    kind: 'counter',
    from: 'agents',
    labels: ['model', 'outcome'],
    help: 'Attempts to call a model: answered, cancelled, or the code of the error.',
  },
  holdfast_model_call_duration_seconds: {
    kind: 'histogram',
    from: 'agents',
    labels: ['model'],
    help: 'One attempt to call a model.',
    buckets: [...MOMENTS, 900],
  },
  holdfast_tokens: {
    kind: 'counter',
    from: 'agents',
    labels: ['model', 'type'],
    help: 'Tokens that providers reported: input (read anew), cached (read from their cache), output.',
  },
  holdfast_model_call_cost_dollars: {
    kind: 'histogram',
    from: 'agents',
    labels: ['model'],
    help: 'US dollars of a model call, where [models] has the prices. The sum is what was spent.',
    buckets: [0.0001, 0.001, 0.01, 0.1, 1, 10],
  },
  holdfast_commands: {
    kind: 'counter',
    from: 'agents',
    labels: ['runtime', 'outcome'],
    help: 'Commands that have ended: succeeded, failed (another exit code), signal, reset, closed, cancelled, lost (its terminal died), or the code of the error that kept it from running.',
  },
  holdfast_command_duration_seconds: {
    kind: 'histogram',
    from: 'agents',
    labels: ['outcome'],
    help: 'How long commands ran.',
    buckets: LONG,
  },
  holdfast_tool_calls: {
    kind: 'counter',
    from: 'agents',
    labels: ['tool', 'caller', 'outcome'],
    help: 'Calls of tools by a model or a script: ok, error (one that the caller can handle), or the code of the error; unknown_outcome: nobody knows whether it had its effect.',
  },
  holdfast_agents: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['state'],
    help: 'Open agents by state.',
  },
  holdfast_waits: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['reason'],
    help: 'What waits for somebody or something: approval, input (a program at a prompt), person (asked to join), agents (sub-agents), quota (that of the day is used up), host_offline (open sessions of hosts that are away).',
  },
  holdfast_wait_oldest_seconds: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['reason'],
    help: 'Age of the oldest of these waits; 0 without one. Not known for agents and quota.',
  },
  holdfast_model_retries: {
    kind: 'gauge',
    from: 'agents',
    labels: [],
    help: 'Model calls of this worker that failed and are tried again.',
  },
  holdfast_model_retry_oldest_seconds: {
    kind: 'gauge',
    from: 'agents',
    labels: [],
    help: 'How long the oldest of them has been tried.',
  },
  holdfast_hosts: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['status'],
    help: 'Hosts on other machines: online, offline.',
  },
  holdfast_queue_backlog: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['queue', 'kind'],
    help: 'Tasks that wait for a worker, of the agents and of each host; kind: workflow, activity.',
  },
  holdfast_queue_backlog_age_seconds: {
    kind: 'gauge',
    from: 'one worker',
    labels: ['queue', 'kind'],
    help: 'How long the oldest of these tasks has waited.',
  },
  holdfast_recovered: {
    kind: 'gauge',
    from: 'each process',
    labels: ['what'],
    help: 'What a worker found of a killed one when it started: command (taken over), activity (given back for a retry), workflow (its cache was lost).',
  },
  holdfast_start_time_seconds: {
    kind: 'gauge',
    from: 'each process',
    labels: [],
    help: 'When the process began to serve, in seconds since the Unix epoch.',
  },
  holdfast_holders: {
    kind: 'gauge',
    from: 'host',
    labels: ['host'],
    help: 'Sessions with a living terminal.',
  },
  holdfast_commands_running: {
    kind: 'gauge',
    from: 'host',
    labels: ['host'],
    help: 'Commands that have not ended.',
  },
  holdfast_log_bytes: {
    kind: 'gauge',
    from: 'host',
    labels: ['host'],
    help: 'Size of the logs of all sessions, closed ones included.',
  },
  holdfast_http_requests: {
    kind: 'counter',
    from: 'gateway',
    labels: ['method', 'route', 'status'],
    help: 'Answered requests of the HTTP API. The route is the pattern: /v1/agents/{agent}.',
  },
  holdfast_http_request_duration_seconds: {
    kind: 'histogram',
    from: 'gateway',
    labels: ['route'],
    help: 'Until the answer begins: streams of events go on after it.',
    buckets: MOMENTS,
  },
  holdfast_http_connections: {
    kind: 'gauge',
    from: 'gateway',
    labels: [],
    help: 'Open connections of the gateway, streams and terminals included.',
  },
} as const satisfies Record<`holdfast_${string}`, MetricFacts>;

type Metrics = typeof METRICS;
export type MetricName = keyof Metrics;
type OfKind<K extends MetricFacts['kind']> = {
  [Name in MetricName]: Metrics[Name]['kind'] extends K ? Name : never;
}[MetricName];
type Labels<Name extends MetricName> = Record<Metrics[Name]['labels'][number], string>;

const factsOf = (name: MetricName): MetricFacts => METRICS[name];

export function count<N extends OfKind<'counter'>>(
  meter: MetricMeter,
  name: N,
  labels: Labels<N>,
  by = 1,
): void {
  meter.createCounter(name, undefined, factsOf(name).help).add(by, labels);
}

export function observe<N extends OfKind<'histogram'>>(
  meter: MetricMeter,
  name: N,
  labels: Labels<N>,
  value: number,
): void {
  meter.createHistogram(name, 'float', undefined, factsOf(name).help).record(Math.max(0, value), labels);
}

export function gauge<N extends OfKind<'gauge'>>(
  meter: MetricMeter,
  name: N,
  labels: Labels<N>,
  value: number,
): void {
  meter.createGauge(name, 'float', undefined, factsOf(name).help).set(Math.max(0, value), labels);
}

/** For the exporter: the upper bounds of each histogram. */
export const BUCKETS: Record<string, number[]> = Object.fromEntries(
  Object.entries(METRICS).flatMap(([name, facts]) =>
    'buckets' in facts ? [[name, [...facts.buckets]]] : [],
  ),
);
