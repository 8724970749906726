// A reply as its dialect reads it, and what every dialect refuses alike.
import type { ParsedReply } from '../contracts/agents/agent';
import { wellFormed } from '../contracts/text/well-formed';
import type { ToolDescription } from '../contracts/tools/tools';
import type { Dialect } from './dialects/dialect';
import { foreignCall } from './dialects/foreign-calls';
import { malformed } from './dialects/malformed';
import type { RawReply } from './provider';

/** Its texts are well-formed, also those that its calls wrote as escapes. */
export function parsedReply(
  raw: RawReply,
  dialect: Dialect,
  { tools, isJson }: { tools: readonly Pick<ToolDescription, 'name'>[]; isJson: boolean },
): ParsedReply {
  const parsed = wellFormed(dialect.parse(raw));
  if (parsed.kind !== 'answer') return parsed;
  const names = tools.map(({ name }) => name);
  const found = foreignCall(parsed.answer, names, isJson);
  return found === undefined ? parsed : malformed(`${found} Nothing reads that form. ${dialect.callRule}`);
}

/** What the model wrote, with its calls: a fault may name a place in their arguments. */
export const writtenReply = ({ text, calls = [] }: RawReply): string =>
  [
    text,
    ...calls.map(({ tool, args }) => `(a call of ${tool || 'no tool'} with the arguments ${args || '{}'})`),
  ]
    .filter((part) => part.trim() !== '')
    .join('\n');
