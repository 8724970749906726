// The result of a call that failed, as its model reads it. Pure.
import type { ToolCall, ToolResult } from '../agents/agent';

export const failedCall = (
  { callId, tool }: Pick<ToolCall, 'callId' | 'tool'>,
  { code, message }: { code: string; message: string },
): ToolResult => ({ callId, tool, content: `Error ${code}: ${message}`, isError: true });

/** The code of the error at the beginning of a result; undefined if there is none. Tools write texts and codes of their own. */
export const codeOfFailed = ({ content, isError }: ToolResult): string | undefined =>
  isError ? /^Error (\w+): /.exec(content)?.[1] : undefined;
