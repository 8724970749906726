// What a model is asked.
import type { ModelRequest } from '../../../../models/provider';

export const textsOf = ({ messages }: ModelRequest): string => messages.map(({ text }) => text).join('\n');
export const isSummary = ({ system }: ModelRequest): boolean => system.startsWith('You sum up');
