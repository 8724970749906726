// All dialects, with the configured prompts and tags. A dialect is one file and one line here.
import type { DialectName } from '../../contracts/models/dialect-names';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { createAgentJson } from './agent-json';
import type { Dialect } from './dialect';
import { createNative } from './native';
import { readPrompts } from './prompt-files';
import { createTagged } from './tagged';
import { tagFaults, type Tags } from './tagged-block';

export interface DialectOptions {
  /** For the tagged dialect. Default `<tool>` and `</tool>`. */
  tags?: { start?: string | undefined; end?: string | undefined } | undefined;
  /** A folder with custom prompts. */
  promptFolder?: string | undefined;
}

/** Throws `invalid_input` for a name that is none. */
export type FindDialect = (name: DialectName) => Dialect;

/** Throws `config_invalid` for tags that cannot be distinguished from text, and for invalid prompts. */
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
  return (name) => {
    // A provider in JavaScript may name any.
    if (!Object.hasOwn(dialects, name))
      throw new HoldfastError('invalid_input', {
        what: "The model's dialect",
        got: String(name),
        allowed: Object.keys(dialects).join(', '),
      });
    return dialects[name];
  };
}
