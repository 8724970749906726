// Ways in which a process gets away from the command that started it. Each kind runs until it is killed and
// shows `mark` in its command line.

/** Forks twice, leaves session, folder and environment behind, is deaf, and keeps the terminal or closes it. */
const daemon = (mark: string, closing: string): string => `perl -e '
  use POSIX; chdir "/"; exit 0 if fork; POSIX::setsid(); exit 0 if fork;
  %ENV = (); $SIG{HUP} = $SIG{TERM} = $SIG{INT} = "IGNORE"; ${closing}
  exec "/usr/bin/env", "-i", "/bin/sh", "-c", "while :; do /bin/sleep 0.2; done; : ${mark}"'`;

const loop = (mark: string): string => `'while :; do sleep 0.2; done; : ${mark}'`;

/** What every host finds. */
const FOUND: [name: string, code: (mark: string) => string][] = [
  ['in the foreground', (mark) => `bash -c ${loop(mark)}`],
  ['in the background', (mark) => `bash -c ${loop(mark)} & sleep 600`],
  ['in its own process group', (mark) => `set -m; (exec bash -c ${loop(mark)}) & sleep 600`],
  ['under nohup', (mark) => `nohup bash -c ${loop(mark)} >/dev/null 2>&1 & sleep 600`],
  ['under setsid', (mark) => `setsid bash -c ${loop(mark)} & sleep 600`],
  [
    'under setsid with its descriptors closed',
    (mark) => `setsid bash -c ${loop(mark)} <&- >&- 2>&- & sleep 600`,
  ],
  ['with a cleared environment', (mark) => `setsid env -i /bin/bash -c ${loop(mark)} & sleep 600`],
  ['forked twice with a cleared environment', (mark) => `${daemon(mark, '')}; sleep 600`],
  [
    'deaf to TERM, HUP and INT',
    (mark) => `bash -c 'trap "" TERM HUP INT; while :; do sleep 0.2; done; : ${mark}'`,
  ],
  ['stopped', (mark) => `bash -c 'kill -STOP $$; : ${mark}' & sleep 600`],
  ['in another shell', (mark) => `bash -c "bash -c ${loop(mark)}; :"`],
];

/** A process that no longer has a parent, session, environment or open file of the session. */
export const TRACELESS = (mark: string): string =>
  `${daemon(mark, 'POSIX::close($_) for 0 .. 255; open STDIN, "/dev/null"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null";')}; sleep 600`;

export const ESCAPEES = {
  found: FOUND,
  all: [...FOUND, ['a daemon without any trace', TRACELESS] as (typeof FOUND)[number]],
};

let marks = 0;
/** None is the beginning of another. */
export const newMark = (): string => `mark-${process.pid}-${Date.now()}-${++marks}-`;
