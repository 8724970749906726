// Token usage of model calls, for people.
import type { Usage } from '../../contracts/agents/agent';

/** For example `1,200 tokens in (800 cached), 90 out, $0.0042`; '' if unknown. */
export function usageText(usage: Usage | null | undefined): string {
  if (!usage) return '';
  const { inputTokens, outputTokens, cachedTokens, costUsd } = usage;
  const cached = cachedTokens > 0 ? ` (${number(cachedTokens)} cached)` : '';
  const cost = costUsd === null ? '' : `, $${costUsd.toFixed(4)}`;
  return `${number(inputTokens)} tokens in${cached}, ${number(outputTokens)} out${cost}`;
}

const number = (value: number): string => value.toLocaleString('en-US');
