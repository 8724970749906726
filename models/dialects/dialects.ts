// All dialects, with the prompts and tags that are configured. A dialect is one file and one line here.
import type { DialectName } from '../../contracts/agent';
import { HoldfastError } from '../../contracts/errors';
import { createAgentJson } from './agent-json';
import type { Dialect } from './dialect';
import { createNative } from './native';
import { readPrompts } from './prompts';
import { createTagged } from './tagged';
import { tagFaults, type Tags } from './tagged-block';

export interface DialectOptions {
  /** Of the tagged dialect. Default `<tool>` and `</tool>`. */
  tags?: { start?: string | undefined; end?: string | undefined } | undefined;
  /** A folder with prompts of one's own. */
  promptFolder?: string | undefined;
}

export type FindDialect = (name: DialectName) => Dialect;

/** Throws `config_invalid` for tags that could not be told from text, and for faulty prompts. */
export function createDialects({ tags: own, promptFolder }: DialectOptions = {}): FindDialect {
  const tags: Tags = { start: own?.start ?? '<tool>', end: own?.end ?? '</tool>' };
  const faults = tagFaults(tags);
  if (faults.length > 0) throw new HoldfastError('config_invalid', { faults: `${faults.join('; ')}.` });
  const prompts = readPrompts(promptFolder, tags);
  const dialects: Record<DialectName, Dialect> = {
    'agent-json': createAgentJson(prompts['agent-json']),
    tagged: createTagged(tags, prompts.tagged),
    native: createNative(prompts.native),
  };
  return (name) => dialects[name];
}
