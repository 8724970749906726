// What a model reads before the conversation: what it is, how to call its tools, what its answer must be. The same
// settings give the same bytes, because providers cache what they have read.
import type { ModelCall } from '../contracts/models/model-call';
import { answerRule } from './answer-schema';

export const systemPrompt = (
  { instructions, outputSchema }: Pick<ModelCall, 'instructions' | 'outputSchema'>,
  dialect: string,
): string =>
  [instructions, dialect, outputSchema && answerRule(outputSchema)].filter((part) => part).join('\n\n');
