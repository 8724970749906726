// What workflows report to metrics. It leaves no trace in their histories, and a replay reports nothing.
import { codeOfFailed } from '../../contracts/tools/failed-call';
import { metricMeter } from '@temporalio/workflow';
import type { ToolResult, TurnResult } from '../../contracts/agents/agent';
import { fromFailure } from '../../contracts/errors/failure';
import { ERROR_CODES } from '../../contracts/errors/holdfast-error';
import type { CommandView, Runtime } from '../../contracts/sessions/session';
import { count, observe } from '../../contracts/telemetry/metrics';
import type { ToolOutcome } from '../../contracts/tools/tools';

/** `since` in workflow time, milliseconds since the Unix epoch, like all times here. */
export function turnEnded({ reason: outcome, steps }: TurnResult, since: number): void {
  count(metricMeter, 'holdfast_turns', { outcome });
  observe(metricMeter, 'holdfast_turn_duration_seconds', { outcome }, secondsSince(since));
  observe(metricMeter, 'holdfast_turn_steps', { outcome }, steps);
}

export const phaseEnded = (phase: 'model' | 'tools', since: number): void =>
  observe(metricMeter, 'holdfast_step_duration_seconds', { phase }, secondsSince(since));

export function commandEnded(runtime: Runtime, view: CommandView): void {
  const outcome = outcomeOf(view);
  count(metricMeter, 'holdfast_commands', { runtime, outcome });
  observe(metricMeter, 'holdfast_command_duration_seconds', { outcome }, view.durationMs / 1_000);
}

/** It did not run, or what came of it is not known. */
export const commandFailed = (runtime: Runtime, err: unknown): void =>
  count(metricMeter, 'holdfast_commands', { runtime, outcome: fromFailure(err)?.code ?? 'internal' });

export function toolCalled(result: ToolResult): void {
  countCall(result.tool, 'turn', result.isError ? codeIn(codeOfFailed(result)) : 'ok');
}

export function scriptCalled(tool: string, outcome: ToolOutcome | 'cancelled'): void {
  if (outcome === 'cancelled') countCall(tool, 'script', outcome);
  else countCall(tool, 'script', outcome.ok ? 'ok' : codeIn(outcome.error.code));
}

/** A name that no tool has comes from outside, and there are as many as anyone likes. */
function countCall(tool: string, caller: 'turn' | 'script', outcome: string): void {
  const name = outcome === 'unknown_tool' ? 'unknown' : tool;
  count(metricMeter, 'holdfast_tool_calls', { tool: name, caller, outcome });
}

/** Tools write texts and codes of their own. */
const codeIn = (code: string | undefined): string => ERROR_CODES.find((known) => known === code) ?? 'error';

function outcomeOf({ state, exitCode, signal, killedBy }: CommandView): string {
  if (state === 'lost') return 'lost';
  if (killedBy) return killedBy.by;
  if (signal !== null) return 'signal';
  return exitCode === 0 ? 'succeeded' : 'failed';
}

const secondsSince = (since: number): number => (Date.now() - since) / 1_000;
