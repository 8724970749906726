// The part of the error catalogue that models bring. What a provider says is redacted before it gets here.
import { entry, type ErrorEntry } from './error-entry';

export const MODEL_ERRORS = {
  model_unknown: entry(
    78,
    false,
    'none',
    (f) => `No model provider has this name: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Name the model as provider:name, for example openai:NAME; one’s own providers stand in holdfast.toml.',
  ),
  model_script_invalid: entry(
    78,
    false,
    'none',
    (f) => `The scripted model's file is invalid: ${f.file}: ${f.faults}`,
    () => 'Mend the file; every fault is listed.',
  ),
  model_script_exhausted: entry(
    65,
    false,
    'none',
    (f) =>
      `The scripted model has no reply left: got call ${f.got}, allowed ${f.allowed}. The last message was: ${f.last}`,
    (f) => `Add a reply to ${f.file}, or end the conversation before.`,
  ),
  model_script_mismatch: entry(
    65,
    false,
    'none',
    (f) =>
      `The scripted model's reply ${f.index} expects a last message matching ${f.allowed}, got: ${f.got}`,
    (f) => `Compare both sides and mend ${f.file} or what came before it.`,
  ),
  model_failed: entry(
    69,
    false,
    'none',
    (f) => `The model call failed: ${f.reason}`,
    () => 'Look at the reason; nothing was run for this step.',
  ),
  format_error: entry(
    65,
    false,
    'none',
    (f) => `The model's reply could not be used, got ${f.attempts} such replies in a row: ${f.problem}`,
    () =>
      'Look at the transcript; a stronger model or a clearer task may help. Nothing was run for these replies.',
  ),
  model_rate_limit: entry(
    75,
    true,
    'none',
    (f) => `The provider of ${f.model} limits the rate: got ${f.got}: ${f.reason}`,
    () =>
      'It is asked again by itself, no sooner than the provider says. Fewer agents at a time or a larger quota there ' +
      'help.',
  ),
  model_overloaded: entry(
    75,
    true,
    'none',
    (f) => `The provider of ${f.model} has a fault or is overloaded: got ${f.got}: ${f.reason}`,
    () => 'It is asked again by itself; where that lasts, look at the provider’s status page.',
  ),
  model_unreachable: entry(
    69,
    true,
    'possible',
    (f) => `No whole answer came from ${f.model} at ${f.address}: ${f.reason}`,
    () =>
      'It is asked again by itself; where that lasts, look at the base URL and at the network of the worker.',
  ),
  model_auth: entry(
    77,
    false,
    'none',
    (f) => `The provider of ${f.model} cannot be used with the key there is: got ${f.got}: ${f.reason}`,
    (f) =>
      String(
        f.next ??
          'Look at the key, its rights and the account. It is read from the environment or file of the worker at ' +
            'each call: after a change of the environment start the worker again.',
      ),
  ),
  model_bad_request: entry(
    65,
    false,
    'none',
    (f) => `The provider of ${f.model} refuses the request: got ${f.got}: ${f.reason}`,
    () => 'Look at the name of the model, at base_url and wire_api, and at what the reason says.',
  ),
  model_context_length: entry(
    65,
    false,
    'none',
    (f) => `The conversation is too long for ${f.model}: got ${f.got}: ${f.reason}`,
    () =>
      'Use a model with a larger window, or start an agent with less to read; `window` in holdfast.toml says how ' +
      'many tokens a model reads.',
  ),
} satisfies Record<string, ErrorEntry>;
