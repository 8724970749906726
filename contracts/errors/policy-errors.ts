// The part of the error catalogue about what the policy or a person refused.
import { entry, type ErrorEntry, type With } from './error-entry';

export const POLICY_ERRORS = {
  policy_denied: entry(
    77,
    false,
    'none',
    (f: With<'reasons'>) => `The policy forbids it: ${f.reasons}; nothing was run.`,
    () =>
      'Do it another way, or tell the user what is needed and why: the policy is part of Holdfast’s configuration.',
  ),
  approval_denied: entry(
    77,
    false,
    'none',
    (f: With<'reason'>) => `It was not approved${f.by ? ` by ${f.by}` : ''}: ${f.reason}; nothing was run.`,
    () => 'Do it another way, or ask the user what they want instead.',
  ),
  approval_expired: entry(
    77,
    false,
    'none',
    (f: With<'reasons' | 'waitedMs'>) =>
      `Nobody approved it within ${f.waitedMs} ms (${f.reasons}); nothing was run.`,
    () => 'Do it another way, or tell the user and ask again.',
  ),
  approval_unknown: entry(
    66,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      f.several
        ? `It is not clear which of several approvals is meant: got ${f.got}, allowed ${f.allowed}.`
        : `Nothing with this id is waiting for approval: got ${f.got}, allowed ${f.allowed}.`,
    (f) =>
      f.several
        ? 'Name one of them; where several have the same id, add `--agent`, `--host` and `--session`.'
        : 'Run `holdfast ps` to see what is waiting.',
  ),
  approval_needs_hash: entry(
    65,
    false,
    'none',
    (f: With<'allowed'>) =>
      `When encryption is required, an approval must name the hash of what it approves: got none, allowed ${f.allowed}; ` +
      'nothing was approved.',
    () => 'Run `holdfast approve ID --show`, then send the id and the hash, as `holdfast approve` does.',
  ),
  approval_outdated: entry(
    65,
    false,
    'none',
    (f: With<'got'>) =>
      `The file ${f.got} was changed after the approval of this call was asked for: it was for the file as it was then. ` +
      'Nothing was changed.',
    () =>
      'Read the file as it is now, and call again with what it should hold: the new call needs its own approval.',
  ),
  approval_changed: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `The code is not the code that was reviewed: got hash ${f.got}, what is waiting has ${f.allowed}; nothing was approved.`,
    () => 'Review what is waiting now, then decide again.',
  ),
  install_failed: entry(
    69,
    false,
    'possible',
    (f: With<'got' | 'reason'>) =>
      `The package ${f.got} could not be installed, so the script was not run: ${f.reason}`,
    () => 'Read the installer’s output, install it in the terminal, or do without it.',
  ),
} satisfies Record<string, ErrorEntry>;
