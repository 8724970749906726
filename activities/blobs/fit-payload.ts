// Cuts the output of a model or a tool to the recordable size, before it is recorded: afterwards would be too late.
import type { ParsedReply, ToolResult } from '../../contracts/agents/agent';
import { wellFormed } from '../../contracts/text/well-formed';
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
 * nothing of it runs, and the model gets the reason.
 */
export function fitReply({ text, parsed, extras, ...rest }: ModelReply & { text: string }): ModelReply {
  const bytes = bytesOf(parsed, text);
  if (bytes > MAX_REPLY_BYTES) {
    const problem =
      `It is too long: got ${bytes} bytes as JSON, allowed ${MAX_REPLY_BYTES}. ` +
      'Write long content to files, in several steps.';
    return { ...rest, text: fitText(text, SHOWN_BYTES), parsed: { kind: 'malformed', problem } };
  }
  if (parsed.kind === 'malformed') return { ...rest, text, parsed };
  const isRoom = extras !== undefined && bytes + jsonBytes(extras) <= MAX_REPLY_BYTES;
  return { ...rest, parsed, ...(isRoom && { extras }) };
}

/** What a turn records of it. Its result contains an answer, or the prose beside calls, once more. */
function bytesOf(parsed: ParsedReply, text: string): number {
  switch (parsed.kind) {
    case 'malformed':
      return jsonBytes({ text, parsed });
    case 'answer':
      return 2 * jsonBytes(parsed);
    case 'calls':
      return jsonBytes(parsed) + jsonBytes(parsed.prose);
  }
}

/** The result; of one that is too large, its beginning and end. A value that is too large is omitted. */
export const fitToolResult = ({ value, ...result }: ToolResult): ToolResult => ({
  ...result,
  content: fitText(wellFormed(result.content), MAX_TOOL_RESULT_BYTES),
  ...(value !== undefined && jsonBytes(value) <= MAX_TOOL_RESULT_BYTES && { value: wellFormed(value) }),
});

/** Of an error that is too long, for example the whole text of an MCP server, its beginning and end. */
export const fitError = ({ error }: FailedOutcome): FailedOutcome => ({
  ok: false,
  error: { ...error, message: fitText(wellFormed(error.message), MAX_ERROR_BYTES) },
});
