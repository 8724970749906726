// The part of the error catalogue about what the policy refuses, and what somebody has refused.
import { entry, type ErrorEntry } from './error-entry';

export const POLICY_ERRORS = {
  policy_denied: entry(
    77,
    false,
    'none',
    (f) => `The policy forbids it: ${f.reasons}; nothing was run.`,
    () =>
      'Do it in another way, or tell the user what is needed and why: the policy is set where Holdfast is set up.',
  ),
  approval_denied: entry(
    77,
    false,
    'none',
    (f) => `It was not approved${f.by ? ` by ${f.by}` : ''}: ${f.reason}; nothing was run.`,
    () => 'Do it in another way, or ask the user what they want instead.',
  ),
  approval_expired: entry(
    77,
    false,
    'none',
    (f) => `Nobody approved it within ${f.waitedMs} ms (${f.reasons}); nothing was run.`,
    () => 'Do it in another way, or tell the user and ask again.',
  ),
  approval_unknown: entry(
    66,
    false,
    'none',
    (f) => `Nothing of this id waits for an approval: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Look at `holdfast ps` for what waits.',
  ),
  approval_needs_hash: entry(
    65,
    false,
    'none',
    (f) =>
      `With required encryption an approval names the hash of what it approves: got none, allowed ${f.allowed}; ` +
      'nothing was approved.',
    () => 'Look at `holdfast approve ID --show`, then send id and hash, as `holdfast approve` does.',
  ),
  approval_changed: entry(
    65,
    false,
    'none',
    (f) =>
      `The code is not the one that was looked at: got hash ${f.got}, what waits has ${f.allowed}; nothing was approved.`,
    () => 'Look at what waits now, then decide again.',
  ),
  install_failed: entry(
    69,
    false,
    'possible',
    (f) => `The package ${f.got} could not be installed, so the script was not run: ${f.reason}`,
    () => 'Read what the installer says, install it in the terminal, or do without it.',
  ),
} satisfies Record<string, ErrorEntry>;
