// The recorded usage of a call. Prices come only from the configuration.
import type { Usage } from '../../contracts/agents/agent';
import type { Prices } from '../model-settings';

export interface Tokens {
  /** All tokens that were read, from the cache or not. */
  input: number;
  cached: number;
  /** Tokens written to the provider's cache, if it reports them. */
  cacheWrite?: number;
  output: number;
}

export function usageOf(
  { input, cached, cacheWrite = 0, output }: Tokens,
  prices: Prices | undefined,
): Usage {
  return { inputTokens: input, outputTokens: output, cachedTokens: cached, costUsd: cost() };

  function cost(): number | null {
    if (!prices) return null;
    const fresh = Math.max(0, input - cached - cacheWrite);
    const dollars =
      fresh * prices.input +
      cached * (prices.cachedInput ?? prices.input) +
      cacheWrite * (prices.cacheWrite ?? prices.input) +
      output * prices.output;
    return dollars / 1_000_000;
  }
}
