// The error for a call that failed: the server's answer, or whether the call may have taken effect.
import type { McpError } from '@modelcontextprotocol/sdk/types.js';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { Effects } from '../../contracts/tools/tools';
import { withoutSecrets, type McpServerSettings } from './mcp-settings';

/** JSON-RPC codes that the SDK made up for its own purposes. */
const REQUEST_TIMEOUT = -32_001;
const CONNECTION_CLOSED = -32_000;
const NOT_FOUND = 404;
/** From a gateway that does not reach the server. */
const GATEWAY_FAULTS = [502, 504];

export interface FailedCall {
  /** The server's. */
  settings: McpServerSettings;
  tool: string;
  effects: Effects;
  /** Why the connection ended, if it did. */
  lost: string | null;
}

/** An HTTP server that was restarted does not know the session: it has run nothing. */
export const isSessionGone = (err: unknown): boolean => httpStatus(err) === NOT_FOUND;

/** The same, said to a ping: some servers say it with 400, which a ping deserves for no other reason. */
export const isSessionRefused = (err: unknown): boolean => [400, NOT_FOUND].includes(httpStatus(err) ?? 0);

/** Whether a server that failed a ping is there, and goes on with its calls: a rate limit refuses pings, too. */
export function isThere(err: unknown): boolean {
  const status = httpStatus(err);
  return isAnswer(err) || (status !== undefined && !GATEWAY_FAULTS.includes(status));
}

/** Whether the server has answered a call, though not with a result that we can use: nothing is unknown. */
export function isRefusal(err: unknown): boolean {
  const status = httpStatus(err);
  return isAnswer(err) || (status !== undefined && status < 500);
}

/** The typed error for the caller; `unknown_outcome` if a call that runs once may have taken effect. */
export function callFailure(err: unknown, call: FailedCall): HoldfastError {
  const { settings, tool, lost } = call;
  if (lost !== null) return unanswered(call, 'mcp_server_lost', lost);
  if (isTimeout(err))
    return unanswered(
      call,
      'deadline',
      `it did not answer within ${settings.toolMs} ms, and was told to stop`,
    );
  if (isRefusal(err))
    return toolFailed(settings, tool, err instanceof HoldfastError ? err.detail : reasonOf(err));
  return unanswered(call, 'mcp_server_lost', reasonOf(err));
}

/** The error for a tool that the server says has failed; the server's words are shown without secrets. */
export const toolFailed = (settings: McpServerSettings, tool: string, reason: string): HoldfastError =>
  new HoldfastError('mcp_tool_failed', {
    server: settings.name,
    tool,
    reason: withoutSecrets(settings, reason),
  });

function unanswered(
  { settings, tool, effects }: FailedCall,
  code: 'mcp_server_lost' | 'deadline',
  given: string,
): HoldfastError {
  const { name: server, toolMs: waitedMs } = settings;
  const reason = withoutSecrets(settings, given);
  const what = `The tool ${tool} of the MCP server ${server}`;
  if (effects === 'once')
    return new HoldfastError('unknown_outcome', {
      what: `the call to ${tool} of the MCP server ${server}`,
      reason,
    });
  return code === 'deadline'
    ? new HoldfastError('deadline', { what, waitedMs })
    : new HoldfastError('mcp_server_lost', { server, tool, reason });
}

/** Whether the server has answered, though not with a result that we can use. */
const isAnswer = (err: unknown): boolean =>
  err instanceof HoldfastError || (isMcpError(err) && !isTimeout(err) && !isClosing(err));

/** With its words: servers use the same code. */
const isClosing = ({ code, message }: McpError): boolean =>
  code === (CONNECTION_CLOSED as number) && message.endsWith('Connection closed');

/** Checked by name: importing the class would load the SDK. */
const isMcpError = (err: unknown): err is McpError => err instanceof Error && err.name === 'McpError';

/** A server may use the same code; only the SDK's error says how long it waited. */
export const isTimeout = (err: unknown): boolean =>
  isMcpError(err) && err.code === (REQUEST_TIMEOUT as number) && hasTimeout(err.data);

const hasTimeout = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && ('timeout' in data || 'maxTotalTimeout' in data);

/** With which HTTP status the server refused a request; undefined for all other errors. */
function httpStatus(err: unknown): number | undefined {
  const code = err instanceof Error && err.name !== 'McpError' ? (err as { code?: unknown }).code : undefined;
  return typeof code === 'number' && code >= 400 ? code : undefined;
}
