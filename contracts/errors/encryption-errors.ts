// The part of the error catalogue about payloads that are refused. No message shows their content.
import { entry, type ErrorEntry, type With } from './error-entry';

export const ENCRYPTION_ERRORS = {
  payload_key_unknown: entry(
    77,
    false,
    'possible',
    (f: With<'allowed' | 'got'>) =>
      `A payload is encrypted with a key that is not here: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Add that key to `keys` of [encryption] in holdfast.toml, after the first one, and restart the worker.',
  ),
  payload_not_authentic: entry(
    77,
    false,
    'possible',
    (f: With<'got' | 'key'>) =>
      `A payload cannot be opened: got ${f.got}, allowed data sealed with key ${f.key}, whole and unchanged.`,
    () =>
      'Compare the key with this id to the writer’s key. If they are the same, the payload was changed after it was ' +
      'written.',
  ),
  payload_moved: entry(
    77,
    false,
    'possible',
    (f: With<'allowed' | 'got'>) =>
      `A payload was made for another place: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Find out who wrote it there. Payloads that the codec endpoint encoded name no workflow: `allow_unbound` in ' +
      '[encryption] lets workers accept them.',
  ),
  payload_plaintext: entry(
    77,
    false,
    'possible',
    (f: With<'allowed' | 'got'>) => `A payload is not encrypted: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Send it through a client that has the keys, or allow it with `allow_plaintext` or `required = false` in ' +
      '[encryption].',
  ),
  message_unsealed: entry(
    77,
    false,
    'none',
    (f: With<'allowed' | 'got'>) => `A message was refused: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Send it again through the command line or a client of this release that has the keys and `required = true`; ' +
      'if its time is not allowed, correct the clock of the machine that sent it.',
  ),
  codec_refused: entry(
    77,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'next'>) =>
      `The codec endpoint refused this: got ${f.got}, allowed ${f.allowed}.`,
    (f) => String(f.next),
  ),
} satisfies Record<string, ErrorEntry>;
