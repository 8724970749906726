// The part of the error catalogue about the embedded Temporal server, and the one for tests.
import { entry, type ErrorEntry, type With } from './error-entry';

export const ENGINE_ERRORS = {
  engine_missing: entry(
    69,
    false,
    'none',
    (f: With<'reason'>) => `No Temporal server could be found or built: ${f.reason}`,
    () =>
      'Install the Temporal CLI (`temporal` on PATH or HOLDFAST_TEMPORAL_CLI), or install Go so that it can be ' +
      'built, or name a running server with --address.',
  ),
  engine_failed: entry(
    70,
    true,
    'possible',
    (f: With<'log' | 'reason'>) => `The Temporal server did not start: ${f.reason}`,
    (f) => `Look at ${f.log}, then run \`holdfast up\` again.`,
  ),
  engine_moved: entry(
    75,
    true,
    'possible',
    (f: With<'before' | 'got'>) =>
      `The Temporal server was restarted at ${f.got}, because something else took ${f.before} in the meantime.`,
    () =>
      'Its data is unchanged and work continues there: check with `holdfast ps`, or run the same command again.',
  ),
  test_server_missing: entry(
    69,
    false,
    'none',
    (f: With<'reason'>) => `No time-skipping test server is available: ${f.reason}`,
    () =>
      'Give this machine access to the vendor’s download or the Maven repository (with `mvn` and `java` on PATH), or name ' +
      'an executable in HOLDFAST_TEST_SERVER; `createLocal` needs none, but does not skip time.',
  ),
  port_in_use: entry(
    71,
    true,
    'none',
    (f: With<'got'>) => `The port is taken: got ${f.got}, allowed a free port.`,
    (f) => String(f.next ?? 'Omit --port to use any free port, or name another.'),
  ),
  engine_stopped: entry(
    75,
    true,
    'possible',
    (f) =>
      f.starting === undefined
        ? 'The work was stopped by `holdfast down`, and is kept.'
        : `${f.starting} was not started: \`holdfast down\` has stopped this data folder meanwhile.`,
    (f) =>
      f.starting === undefined ? 'It continues with the next `holdfast up`.' : 'Try again if it should run.',
  ),
} satisfies Record<string, ErrorEntry>;
