// A tool's result as a turn records it. Pure.
import type { Message, ToolResult } from '../../../contracts/agents/agent';
import { fitText, jsonBytes } from '../../../contracts/payload-size';

/** The size of a tool's message without its content and images. */
const MESSAGE_OVERHEAD_BYTES = 500;

/** In at most this many bytes: the middle of a long text is left out, and images that do not fit. */
export function recordedResult(result: ToolResult, roomBytes: number): Message {
  const { callId, tool, content, isError, session, images } = result;
  const left = roomBytes - MESSAGE_OVERHEAD_BYTES;
  const imageBytes = images ? jsonBytes(images) : 0;
  const fits = imageBytes <= left / 2;
  return {
    role: 'tool',
    callId,
    tool,
    content: fitText(content, Math.max(0, fits ? left - imageBytes : left)),
    isError,
    ...(session && { session }),
    ...(images && fits && { images }),
  };
}
