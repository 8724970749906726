// Finds the provider that a model's name asks for. Add a provider here.
import { HoldfastError } from '../contracts/errors';
import type { ModelProvider } from './provider';
import { scriptedProvider } from './scripted';

const PROVIDERS: Record<string, (name: string) => ModelProvider> = { scripted: scriptedProvider };

/** The provider behind `provider:name`. Throws `model_unknown`. */
export function providerFor(model: string): ModelProvider {
  const [kind = '', ...name] = model.split(':');
  const create = Object.hasOwn(PROVIDERS, kind) ? PROVIDERS[kind] : undefined;
  if (!create) {
    throw new HoldfastError('model_unknown', {
      got: model,
      allowed: Object.keys(PROVIDERS)
        .map((k) => `${k}:NAME`)
        .join(', '),
    });
  }
  return create(name.join(':'));
}
