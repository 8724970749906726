// The part of the error catalogue about files that people copy to and from hosts.
import { entry, type ErrorEntry, type With } from './error-entry';

export const FILE_ERRORS = {
  files_unreachable: entry(
    69,
    true,
    'none',
    (f: With<'host' | 'reason'>) =>
      `The files of host ${f.host} cannot be reached: ${f.reason}; nothing was copied.`,
    (f) =>
      String(
        f.next ??
          `Start the host with --listen (\`holdfast host serve ${f.host} --listen ADDRESS:PORT\`), or copy on its own machine.`,
      ),
  ),
  transfer_interrupted: entry(
    69,
    true,
    'possible',
    (f: With<'host' | 'reason'>) =>
      `The transfer with host ${f.host} was interrupted: ${f.reason}; whole files are in place, and nothing else is.`,
    (f) => String(f.next ?? 'Start it again: a large file goes on where it stopped.'),
  ),
  file_changed: entry(
    75,
    true,
    'none',
    (f: With<'attempts' | 'got'>) => `The file ${f.got} changed each time it was read, ${f.attempts} times.`,
    () => 'Copy it when nothing writes to it, or have a program there copy it first.',
  ),
  checksum_mismatch: entry(
    74,
    true,
    'none',
    (f: With<'allowed' | 'got' | 'path'>) =>
      `What arrived is not the content of ${f.path}: got SHA-256 ${f.got}, allowed ${f.allowed}; nothing was put there.`,
    () => 'Send it again from its first byte, and check the sum that you give.',
  ),
  file_exists: entry(
    65,
    false,
    'none',
    (f: With<'got'>) => `The file ${f.got} exists, and was to stay as it is.`,
    () => 'Name another path, or let it be replaced.',
  ),
  upload_offset: entry(
    75,
    true,
    'none',
    (f: With<'allowed' | 'got' | 'path'>) =>
      `The upload of ${f.path} cannot go on there: got byte ${f.got}, allowed up to ${f.allowed}.`,
    () => 'Ask again how much of it is there, and send the rest from there.',
  ),
  range_unsatisfiable: entry(
    65,
    false,
    'none',
    (f: With<'got' | 'size'>) =>
      `The file has no such part: got bytes ${f.got}, allowed a part of its ${f.size} bytes.`,
    () => 'Ask for a part that it has; without a range the answer is all of it.',
  ),
} satisfies Record<string, ErrorEntry>;
