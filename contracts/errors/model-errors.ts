// The part of the error catalogue about models. Providers' messages are redacted before they get here.
import { entry, sentence, type ErrorEntry, type With } from './error-entry';

export const MODEL_ERRORS = {
  model_unknown: entry(
    78,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `No model provider has this name: got ${f.got}${f.guess ? ` (did you mean ${f.guess}?)` : ''}, allowed ${f.allowed}.`,
    () =>
      'Name the model as provider:name, for example openai:NAME; your own providers are defined in holdfast.toml.',
  ),
  model_script_invalid: entry(
    78,
    false,
    'none',
    (f: With<'faults' | 'file'>) => `The scripted model's file is invalid: ${f.file}: ${sentence(f.faults)}`,
    () => 'Fix the file; every fault is listed.',
  ),
  model_script_exhausted: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'file' | 'got' | 'last'>) =>
      `The scripted model has no reply left: got call ${f.got}, allowed ${f.allowed}. The last message was: ${f.last}`,
    (f) => `Add a reply to ${f.file}, or end the conversation earlier.`,
  ),
  model_script_mismatch: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'file' | 'got' | 'index'>) =>
      `The scripted model's reply ${f.index} expects a last message matching ${f.allowed}, got: ${f.got}`,
    (f) => `Compare the two and fix ${f.file} or what came before it.`,
  ),
  model_failed: entry(
    69,
    false,
    'none',
    (f: With<'reason'>) => `The model call failed: ${f.reason}`,
    () => 'Look at the reason; nothing was run for this step.',
  ),
  format_error: entry(
    65,
    false,
    'none',
    (f: With<'attempts' | 'problem'>) =>
      `The model's reply could not be used, got ${f.attempts} such replies in a row: ${f.problem}`,
    () =>
      'Look at the transcript; a stronger model or a clearer task may help. Nothing was run for these replies.',
  ),
  model_rate_limit: entry(
    75,
    true,
    'none',
    (f: With<'got' | 'model' | 'reason'>) =>
      `The provider of ${f.model} limits the rate: got ${f.got}: ${f.reason}`,
    () =>
      'The call is retried automatically, no sooner than the provider says. Running fewer agents at a time or a larger ' +
      'quota helps.',
  ),
  model_overloaded: entry(
    75,
    true,
    'none',
    (f: With<'got' | 'model' | 'reason'>) =>
      `The provider of ${f.model} has a fault or is overloaded: got ${f.got}: ${f.reason}`,
    () => 'The call is retried automatically; if this persists, check the provider’s status page.',
  ),
  model_unreachable: entry(
    69,
    true,
    'possible',
    (f: With<'address' | 'model' | 'reason'>) =>
      `No complete answer came from ${f.model} at ${f.address}: ${f.reason}`,
    () => 'The call is retried automatically; if this persists, check the base URL and the worker’s network.',
  ),
  model_auth: entry(
    77,
    false,
    'none',
    (f: With<'got' | 'model' | 'reason'>) =>
      `The provider of ${f.model} cannot be used with the current key: got ${f.got}: ${f.reason}`,
    (f) =>
      String(
        f.next ??
          'Check the key, its permissions and the account. The worker reads it from its environment or file at ' +
            'each call: after changing the environment, restart the worker.',
      ),
  ),
  model_bad_request: entry(
    65,
    false,
    'none',
    (f: With<'got' | 'model' | 'reason'>) =>
      `The provider of ${f.model} rejected the request: got ${f.got}: ${f.reason}`,
    () => 'Check the model’s name, base_url and wire_api, and read the reason.',
  ),
  quota_reached: entry(
    75,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'until'>) =>
      `The agents of this deployment have used up what they may use in a day: got ${f.got}, allowed ${f.allowed}.`,
    (f) =>
      `Agents go on by themselves when the next day begins (${f.until}), or within a minute of a higher limit in ` +
      '[quota] of holdfast.toml.',
  ),
  model_context_length: entry(
    65,
    false,
    'none',
    (f: With<'got' | 'model' | 'reason'>) =>
      `The conversation is too long for ${f.isRate ? `the rate limit of ${f.model}` : f.model}: got ${f.got}: ${f.reason}`,
    (f) =>
      (f.isRate
        ? 'Raise the limit at the provider, use a model with a higher one, or let a request have less: a lower ' +
          '`max_output_tokens` in holdfast.toml where the provider counts the reply, '
        : 'Use a model with a larger window, or start an agent with less to read: ') +
      'a shorter first message, smaller context files, fewer tools. A summary leaves these as they are.',
  ),
} satisfies Record<string, ErrorEntry>;
