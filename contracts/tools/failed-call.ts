// The result of a call that failed, as its model reads it. Pure.
import type { ToolCall, ToolResult } from '../agents/agent';

export const failedCall = (
  { callId, tool }: Pick<ToolCall, 'callId' | 'tool'>,
  { code, message }: { code: string; message: string },
): ToolResult => ({ callId, tool, content: `Error ${code}: ${message}`, isError: true });
