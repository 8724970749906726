// Finds the provider that a model's name asks for. A built-in provider is one file and one line here; one's own
// are handed in where the parts are composed.
import { HoldfastError } from '../contracts/errors';
import type { ModelProvider } from './provider';
import { scriptedProvider } from './scripted';

/** By the first part of `provider:name`; the function gets the rest, which may hold colons. */
export type ModelProviders = Readonly<Record<string, (name: string) => ModelProvider>>;

const BUILT_IN: ModelProviders = { scripted: scriptedProvider };

/** As the input of an agent allows it. */
const NAME_PATTERN = /^[a-z][a-z0-9-]*$/;

/** Finds the provider behind `provider:name`. Throws `model_unknown`. */
export type FindProvider = (model: string) => ModelProvider;

/** The built-in providers and one's own. Throws `config_invalid` for a name that is taken or not allowed. */
export function createProviders(own: ModelProviders = {}): FindProvider {
  const faults = Object.keys(own).flatMap((name) => [
    ...(Object.hasOwn(BUILT_IN, name) ? [`model provider ${name}: the name is taken by a built-in one`] : []),
    ...(NAME_PATTERN.test(name) ? [] : [`model provider "${name}": allowed a-z, 0-9 and "-" after a letter`]),
  ]);
  if (faults.length > 0) throw new HoldfastError('config_invalid', { faults: faults.join('; ') });
  const providers = { ...BUILT_IN, ...own };
  return (model) => {
    const [kind = '', ...name] = model.split(':');
    const create = Object.hasOwn(providers, kind) ? providers[kind] : undefined;
    if (!create) {
      const allowed = Object.keys(providers).map((known) => `${known}:NAME`);
      throw new HoldfastError('model_unknown', { got: model, allowed: allowed.join(', ') });
    }
    return create(name.join(':'));
  };
}
