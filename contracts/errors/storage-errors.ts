// The part of the error catalogue about the system: files that fail, limits, holders that do not answer.
import { entry, type ErrorEffect, type ErrorEntry, type ErrorFacts, type With } from './error-entry';

/** What is known about the request. */
function done(f: ErrorFacts): string {
  return f.done ? `; ${f.done}` : '';
}

/** Copies of files have no id. */
const again = (f: ErrorFacts): string => String(f.again ?? 'send it again with the same id');

/** Only the code that throws it knows what had happened before. */
const effectOf = ({ done: known }: ErrorFacts): ErrorEffect =>
  /^nothing was/.test(String(known)) ? 'none' : 'possible';

/** What to do about a holder that does not answer, short of ending it. */
function wayOn({ state, pid }: ErrorFacts): string {
  if (/stopped/.test(String(state))) return `Resume it with \`kill -CONT ${pid}\``;
  if (/protocol/.test(String(state))) return 'Go on with the worker of its release (`holdfast up` there)';
  return 'Wait for it';
}

function remedyOfDisk(reason: string): string {
  if (/ENOSPC|EDQUOT|full|quota/.test(reason)) return 'Free space on that disk';
  if (/EROFS|read-only/.test(reason)) return 'Mount it writable again';
  if (/EPERM|EACCES/.test(reason)) return 'Let this user change it (its owner, its mode, `lsattr`)';
  if (/ENOENT|ENOTDIR|EEXIST/.test(reason)) return 'Name another folder, or remove what is in its way';
  if (/damaged/.test(reason))
    return 'Restore it from a backup, or remove it (docs/operating.md says what is lost with it)';
  return 'Check that disk';
}

function remedyOfBucket(reason: string): string {
  if (/NoSuchBucket/.test(reason)) return 'Create the bucket, or correct `values` in `[storage]`';
  if (/[Rr]egion|HTTP 301/.test(reason)) return 'Set `s3_region` in `[storage]`';
  if (/HTTP 4/.test(reason))
    return 'Let the credentials of the worker read, write, delete and list below that prefix';
  if (/[Cc]redentials/.test(reason))
    return 'Give the worker credentials for it: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role';
  return 'Check the network, and `s3_endpoint` in `[storage]`';
}

export const STORAGE_ERRORS = {
  storage_failed: entry(
    74,
    true,
    effectOf,
    (f: With<'reason'>) => `A file or folder cannot be used: ${f.reason}${done(f)}.`,
    (f) => `${remedyOfDisk(String(f.reason))}, then ${again(f)}.`,
  ),
  bucket_failed: entry(
    74,
    true,
    effectOf,
    (f: With<'bucket' | 'reason'>) =>
      `The bucket of large values cannot be used: ${f.bucket}: ${f.reason}${done(f)}.`,
    (f) =>
      `${remedyOfBucket(String(f.reason))}; \`holdfast doctor\` tries it. Then send it again with the same id.`,
  ),
  resources_exhausted: entry(
    75,
    true,
    effectOf,
    (f: With<'reason' | 'resource'>) => `The system has run out of ${f.resource}: ${f.reason}${done(f)}.`,
    (f) =>
      String(
        f.next ??
          'Close sessions you do not need (`holdfast ps`, `holdfast close`) or raise the limit (`ulimit -n`), ' +
            `then ${again(f)}.`,
      ),
  ),
  log_lost: entry(
    74,
    false,
    'possible',
    (f: With<'from' | 'to'>) =>
      `The bytes ${f.from} to ${f.to} of the log are lost: it was truncated or deleted.`,
    (f) => `Continue reading from offset ${f.to}; the command kept running.`,
  ),
  session_unreachable: entry(
    75,
    true,
    ({ delivered }) => (/^nothing was/.test(String(delivered)) ? 'none' : 'possible'),
    (f: With<'delivered' | 'pid' | 'session' | 'since' | 'state'>) =>
      `Session ${f.session} does not answer: its holder (pid ${f.pid}) is alive, but ${f.state}, since ` +
      `${f.since}; ${f.delivered}.`,
    (f) =>
      `${wayOn(f)}, or end it ` +
      `with \`holdfast reset --session ${f.session}\` or \`holdfast close --session ${f.session}\`. Sending ` +
      'the same id again returns its outcome.',
  ),
} satisfies Record<string, ErrorEntry>;
