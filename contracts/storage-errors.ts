// The part of the error catalogue about what the system refuses and what does not answer: files, limits, holders.
import { entry, type ErrorEffect, type ErrorEntry, type ErrorFacts } from './error-entry';

/** What is known of the request. */
function done(f: ErrorFacts): string {
  return f.done ? `; ${f.done}` : '';
}

/** Only where it was thrown is it known what came before. */
const effectOf = ({ done: known }: ErrorFacts): ErrorEffect =>
  /^nothing was/.test(String(known)) ? 'none' : 'possible';

function remedyOfDisk(reason: string): string {
  if (/ENOSPC|EDQUOT|full|quota/.test(reason)) return 'Make room on that disk';
  if (/EROFS|read-only/.test(reason)) return 'Mount it writable again';
  if (/EPERM|EACCES/.test(reason)) return 'Let this user change it (its owner, its mode, `lsattr`)';
  return 'See to that disk';
}

export const STORAGE_ERRORS = {
  storage_failed: entry(
    74,
    true,
    effectOf,
    (f) => `A file or folder cannot be used: ${f.reason}${done(f)}.`,
    (f) => `${remedyOfDisk(String(f.reason))}, then send it again with the same id.`,
  ),
  resources_exhausted: entry(
    75,
    true,
    effectOf,
    (f) => `The system has no more ${f.resource}: ${f.reason}${done(f)}.`,
    () =>
      'Close what is not needed (`holdfast ps`, `holdfast close`) or raise the limit (`ulimit -n`), then send it ' +
      'again with the same id.',
  ),
  log_lost: entry(
    74,
    false,
    'possible',
    (f) => `The bytes ${f.from} to ${f.to} of the log are lost: it was truncated or deleted.`,
    (f) => `Read on from offset ${f.to}; what ran went on.`,
  ),
  session_unreachable: entry(
    75,
    true,
    ({ delivered }) => (/^nothing was/.test(String(delivered)) ? 'none' : 'possible'),
    (f) =>
      `Session ${f.session} does not answer: its holder (pid ${f.pid}) is alive, but ${f.state}, since ` +
      `${f.since}; ${f.delivered}.`,
    (f) =>
      `${/stopped/.test(String(f.state)) ? `Let it go on with \`kill -CONT ${f.pid}\`` : 'Wait for it'}, or end it ` +
      `with \`holdfast reset --session ${f.session}\` or \`holdfast close --session ${f.session}\`. The same id ` +
      'sent again finds what became of it.',
  ),
} satisfies Record<string, ErrorEntry>;
