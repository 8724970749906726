// The part of the error catalogue about payloads that are not taken. None of them shows content.
import { entry, type ErrorEntry } from './error-entry';

export const ENCRYPTION_ERRORS = {
  payload_key_unknown: entry(
    77,
    false,
    'possible',
    (f) => `A payload is encrypted with a key that is not here: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Add that key to `keys` of [encryption] in holdfast.toml, behind the first one, and start the worker again.',
  ),
  payload_not_authentic: entry(
    77,
    false,
    'possible',
    (f) =>
      `A payload cannot be opened: got ${f.got}, allowed what key ${f.key} has sealed, whole and unchanged.`,
    () =>
      'Compare the key of this id with that of whoever wrote it. If the keys are the same, the payload was changed ' +
      'after it was written.',
  ),
  payload_moved: entry(
    77,
    false,
    'possible',
    (f) => `A payload was made for another place: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Look at who wrote it there. What the codec endpoint has encoded names no workflow: `allow_unbound` of ' +
      '[encryption] lets workers take it.',
  ),
  payload_plaintext: entry(
    77,
    false,
    'possible',
    (f) => `A payload is not encrypted: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Send it through a client that has the keys, or let it be: `allow_plaintext` or `required = false` in ' +
      '[encryption].',
  ),
  message_unsealed: entry(
    77,
    false,
    'none',
    (f) => `A message is not taken: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Send it anew through the command line or a client of this release that has the keys and `required = true`; ' +
      'where its time is not allowed, set the clock of the machine that sent it.',
  ),
  codec_refused: entry(
    77,
    false,
    'none',
    (f) => `The codec endpoint does not answer this: got ${f.got}, allowed ${f.allowed}.`,
    (f) => String(f.next),
  ),
} satisfies Record<string, ErrorEntry>;
