// The facts of calls whose reply was recorded without them, by releases before 0.3: by the names of their tools and the
// texts of their results, as those releases did. What replays is decided by these rules, so they do not change. Pure.
import { isSessionNumber } from '../ids';
import type { ArgumentRoles, CallFacts } from '../tools/call-facts';
import type { ToolCall, ToolResult } from './agent';
import { scriptSessions } from './script-sessions';

/** Tools whose calls meant session 0 if they named none. */
const OF_SESSION_ZERO: readonly string[] = ['code_execution_tool', 'input'];
const ROLES: ArgumentRoles = { runtime: 'runtime', session: 'session', code: 'code', typed: 'keyboard' };

/** @param key the call's; without it, the session of a script that names none is not known */
export function factsOfEarlierCall(call: ToolCall, key?: string): CallFacts {
  const session = sessionOf(call, key);
  return {
    ...(session !== null && { session }),
    ...(call.args.interactive === true && { forPerson: true }),
    roles: ROLES,
  };
}

function sessionOf({ tool, args }: ToolCall, key?: string): number | null {
  // These sessions are on another host.
  if (tool === 'code_execution_remote' || args.host !== undefined) return null;
  const { session } = args;
  if (isSessionNumber(session)) return session;
  if (session !== undefined) return null;
  if (tool === 'execute_python_code') return key === undefined ? null : (scriptSessions(key)[0] ?? null);
  return OF_SESSION_ZERO.includes(tool) ? 0 : null;
}

/** What the line at the end of the text says of the session; undefined if there is no such line. */
export function textOfEarlierResult({
  content,
}: Pick<ToolResult, 'content'>): { text: string; isWaiting: boolean } | undefined {
  const text = /\[([^[\]\n]+); session \d+, offset \d+[^[\]\n]*\]\s*$/.exec(content)?.[1];
  return text === undefined ? undefined : { text, isWaiting: text.startsWith('waiting for') };
}
