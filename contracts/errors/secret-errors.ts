// The part of the error catalogue about secrets. Names are shown, values never.
import { entry, type ErrorEntry, type With } from './error-entry';

export const SECRET_ERRORS = {
  secret_unknown: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `The host has no secret with this name: got ${f.got}, allowed ${f.allowed}; nothing was run or typed.`,
    () => 'Use one of the allowed names, or ask the host’s operator to add it to [secrets] in holdfast.toml.',
  ),
  secret_not_allowed: entry(
    77,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'use'>) =>
      `The secret ${f.got} may not be used here: got ${f.use}, allowed ${f.allowed}; nothing was run or typed.`,
    () => 'Do without it, or ask the host’s operator to add it to [secrets.allow] in holdfast.toml.',
  ),
  secret_unusable: entry(
    69,
    false,
    'none',
    (f: With<'got' | 'reason'>) =>
      `The secret ${f.got} cannot be used: ${f.reason}; nothing was run or typed.`,
    (f) => String(f.next ?? 'Ask the host’s operator to check [secrets] in holdfast.toml.'),
  ),
} satisfies Record<string, ErrorEntry>;
