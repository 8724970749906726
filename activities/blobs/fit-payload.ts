// Cuts the output of a model or a tool to the recordable size, before it is recorded: afterwards would be too late.
import type { ToolResult } from '../../contracts/agents/agent';
import type { FailedOutcome } from '../../contracts/tools/tools';
import type { ModelReply } from '../../contracts/models/model-reply';
import {
  fitText,
  jsonBytes,
  MAX_ERROR_BYTES,
  MAX_REPLY_BYTES,
  MAX_TOOL_RESULT_BYTES,
} from '../../contracts/payload-size';

const SHOWN_BYTES = 4_000;

/**
 * The reply as recorded; its text is kept only if it is malformed. A reply that is too large becomes a malformed one:
 * nothing of it runs, and the model is told why. An answer counts twice, because the turn's result contains it twice.
 */
export function fitReply({ text, parsed, ...rest }: ModelReply & { text: string }): ModelReply {
  const bytes = jsonBytes({ text, parsed });
  if (bytes > MAX_REPLY_BYTES) {
    const problem =
      `It is too long: got ${bytes} bytes as JSON (as written and as parsed), allowed ${MAX_REPLY_BYTES}. ` +
      'Write long content to files, in several steps.';
    return { ...rest, text: fitText(text, SHOWN_BYTES), parsed: { kind: 'malformed', problem } };
  }
  return { ...rest, ...(parsed.kind === 'malformed' && { text }), parsed };
}

/** The result; of one that is too large, its beginning and end. A value that is too large is omitted. */
export const fitToolResult = ({ value, ...result }: ToolResult): ToolResult => ({
  ...result,
  content: fitText(result.content, MAX_TOOL_RESULT_BYTES),
  ...(value !== undefined && jsonBytes(value) <= MAX_TOOL_RESULT_BYTES && { value }),
});

/** Of an error that is too long, for example the whole text of an MCP server, its beginning and end. */
export const fitError = ({ error }: FailedOutcome): FailedOutcome => ({
  ok: false,
  error: { ...error, message: fitText(error.message, MAX_ERROR_BYTES) },
});
