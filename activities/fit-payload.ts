// Cuts what a model or a tool gives to what may be recorded, before it is: afterwards it would be too late.
import type { ModelReply, ToolResult } from '../contracts/agent';
import { fitText, jsonBytes, MAX_REPLY_BYTES, MAX_TOOL_RESULT_BYTES } from '../contracts/payload-size';

const SHOWN_BYTES = 4_000;

/** The reply, or in place of one that is too large a malformed one: nothing of it runs, the model is told why. */
export function fitReply(reply: ModelReply): ModelReply {
  const bytes = jsonBytes(reply);
  if (bytes <= MAX_REPLY_BYTES) return reply;
  const problem =
    `It is too long: got ${bytes} bytes as recorded (its text and its parsed form), allowed ${MAX_REPLY_BYTES}. ` +
    'Write long content to files, in several steps.';
  return { ...reply, text: fitText(reply.text ?? '', SHOWN_BYTES), parsed: { kind: 'malformed', problem } };
}

/** The result, of one that is too large its beginning and end; a value that is too large is left out. */
export const fitToolResult = ({ value, ...result }: ToolResult): ToolResult => ({
  ...result,
  content: fitText(result.content, MAX_TOOL_RESULT_BYTES),
  ...(value !== undefined && jsonBytes(value) <= MAX_TOOL_RESULT_BYTES && { value }),
});
