// The error for a call that failed: the server's answer, or whether the call may have taken effect.
import type { McpError } from '@modelcontextprotocol/sdk/types.js';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { Effects } from '../../contracts/tools/tools';

/** JSON-RPC codes that the SDK made up for its own purposes. */
const REQUEST_TIMEOUT = -32_001;
const NOT_FOUND = 404;

export interface FailedCall {
  server: string;
  tool: string;
  effects: Effects;
  timeoutMs: number;
  /** Why the connection ended, if it did. */
  lost: string | null;
}

/** An HTTP server that was restarted does not know the session: it has run nothing. */
export const isSessionGone = (err: unknown): boolean => httpStatus(err) === NOT_FOUND;

/** The typed error for the caller; `unknown_outcome` if a call that runs once may have taken effect. */
export function callFailure(err: unknown, call: FailedCall): HoldfastError {
  if (err instanceof HoldfastError) return err;
  const { server, tool, lost } = call;
  if (lost !== null) return unanswered(call, 'mcp_server_lost', lost);
  if (isTimeout(err))
    return unanswered(
      call,
      'deadline',
      `it did not answer within ${call.timeoutMs} ms, and was told to stop`,
    );
  const status = httpStatus(err);
  // It is an answer, though not a useful one: nothing is unknown.
  if (isAnswer(err) || (status !== undefined && status >= 400 && status < 500))
    return new HoldfastError('mcp_tool_failed', { server, tool, reason: reasonOf(err) });
  return unanswered(call, 'mcp_server_lost', reasonOf(err));
}

function unanswered(
  { server, tool, effects, timeoutMs }: FailedCall,
  code: 'mcp_server_lost' | 'deadline',
  reason: string,
): HoldfastError {
  const what = `The tool ${tool} of the MCP server ${server}`;
  if (effects === 'once')
    return new HoldfastError('unknown_outcome', {
      what: `the call to ${tool} of the MCP server ${server}`,
      reason,
    });
  return code === 'deadline'
    ? new HoldfastError('deadline', { what, waitedMs: timeoutMs })
    : new HoldfastError('mcp_server_lost', { server, tool, reason });
}

/** Checked by name: importing the class would load the SDK. */
const isAnswer = (err: unknown): err is McpError => err instanceof Error && err.name === 'McpError';

/** A server may use the same code; only the SDK's error says how long it waited. */
const isTimeout = (err: unknown): boolean =>
  isAnswer(err) && err.code === (REQUEST_TIMEOUT as number) && hasTimeout(err.data);

const hasTimeout = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && ('timeout' in data || 'maxTotalTimeout' in data);

/** HTTP status of an error of the streamable HTTP transport; undefined for all others. */
function httpStatus(err: unknown): number | undefined {
  const code = err instanceof Error && err.name !== 'McpError' ? (err as { code?: unknown }).code : undefined;
  return typeof code === 'number' ? code : undefined;
}
