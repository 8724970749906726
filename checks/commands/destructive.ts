// Commands that destroy: a judge for each program, based on its arguments, never on the text of the line.
import { isCritical, isDisk, isForOwners, isVital } from '../paths';
import { BELOW, unquoted } from '../text';
import { hasAny, parseArguments, pathOf, programName, type Command, type Word } from './command';

type Judge = (command: Command, args: Word[]) => void;

/** Adds a finding if the program with its arguments destroys something that matters. */
export function judgeDestructive(command: Command): void {
  const [program, ...args] = command.words;
  if (!program) return;
  const name = programName(program.text);
  const judge = JUDGES[name] ?? (/^mkfs\.|^mke2fs$|^newfs/.test(name) ? formats : undefined);
  judge?.(command, args);
}

const found = ({ check, place }: Command, reason: string): void =>
  check.findings.add('destructive', place, reason);
const shown = (path: string): string => unquoted(path).replaceAll(BELOW, '…');

const removes: Judge = (command, args) => {
  const parsed = parseArguments(args, '');
  for (const { text } of parsed.rest) {
    const path = pathOf(text, command);
    if (isDisk(path) || isCritical(path)) found(command, `it removes ${shown(path)}`);
    else if (hasAny(parsed, 'r R recursive') && isVital(path))
      found(command, `it removes ${shown(path)} with all that is in it`);
    else if (/\/[*?]/.test(path) && isVital(path)) found(command, `it removes the files of ${shown(path)}`);
  }
};

const formats: Judge = (command, args) => {
  const parsed = parseArguments(args, 't L b N I m E O U label uuid');
  if (hasAny(parsed, 'V version help n h')) return;
  const disk = parsed.rest.find(({ text }) => isDisk(pathOf(text, command)) || /^\/dev\//.test(text));
  if (disk) found(command, `it formats ${shown(disk.text)}`);
};

/** Programs that take a disk as an argument, and are harmful with certain options, or always. */
const onDisk =
  (what: string, options?: string): Judge =>
  (command, args) => {
    const disk = args.find(({ text }) => isDisk(pathOf(text, command)));
    if (disk && (!options || hasAny(parseArguments(args, ''), options)))
      found(command, `it ${what} ${shown(disk.text)}`);
  };

const writesTo =
  (targets: (args: Word[]) => string[]): Judge =>
  (command, args) => {
    for (const text of targets(args)) judgeWrite(command, text);
  };

/** Overwriting a disk, or a file that the machine depends on, loses its content. */
export function judgeWrite(command: Pick<Command, 'check' | 'place' | 'scope'>, text: string): void {
  const path = pathOf(text, command);
  if (isDisk(path) || isCritical(path))
    command.check.findings.add('destructive', command.place, `it writes over ${shown(path)}`);
}

const dd = writesTo((args) =>
  args.flatMap(({ text }) => (text.startsWith('of=') ? [text.slice('of='.length)] : [])),
);
const lastArgument = (args: Word[]): string[] =>
  parseArguments(args, 't target-directory S suffix')
    .rest.slice(1)
    .slice(-1)
    .map(({ text }) => text);

const moves: Judge = (command, args) => {
  const { rest } = parseArguments(args, 'S suffix t target-directory');
  const target = rest.at(-1);
  for (const { text } of rest.slice(0, -1)) {
    const path = pathOf(text, command);
    if (isVital(path) && (!path.startsWith('~') || target?.text === '/dev/null'))
      found(command, `it moves ${shown(path)} away`);
  }
  if (rest.length > 1 && target) judgeWrite(command, target.text);
};

const shreds: Judge = (command, args) => {
  for (const { text } of parseArguments(args, 'n s iterations size random-source').rest) {
    const path = pathOf(text, command);
    if (isDisk(path) || isCritical(path) || isVital(path)) found(command, `it overwrites ${shown(path)}`);
  }
};

const WIDE_MODE = /^0*777$|^0*000$|^a\+rwx$|^ugo\+rwx$|^a?[-=]r?w?x?$/;

const changesMode: Judge = (command, args) => {
  // A mode such as -rwx looks like options.
  const parsed = parseArguments(args, 'reference');
  if (!hasAny(parsed, 'R recursive')) return;
  const mode = unquoted(
    args.find(({ text }) => /^[-+=augo0-7]/.test(text) && !/^-+R|^-[vcfR]+$|^--/.test(text))?.text ?? '',
  );
  for (const { text } of parsed.rest) {
    const path = pathOf(text, command);
    if (isVital(path) && (!path.startsWith('~') || WIDE_MODE.test(mode)))
      found(command, `it changes the permissions of all of ${shown(path)}`);
  }
};

const changesOwner: Judge = (command, args) => {
  const parsed = parseArguments(args, 'reference from');
  if (!hasAny(parsed, 'R recursive')) return;
  for (const { text } of parsed.rest.slice(parsed.flags.has('reference') ? 0 : 1)) {
    const path = pathOf(text, command);
    if (isVital(path) && !isForOwners(path)) found(command, `it changes the owner of all of ${shown(path)}`);
  }
};

/** Tests that exclude most files; a pattern of `*` does not. */
const NARROWING =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm](?:time|min)|a?newer.*|size|empty|user|group|uid|gid|perm|links|inum|samefile|lname)$/;

/** What `find` would act on: its start folders, if no test excludes most files. */
export function foundRoots(command: Command): string[] {
  const args = command.words.slice(1).map(({ text }) => text);
  const start = args.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$|^-O\d$|^-D$/.test(text));
  const roots = (start === -1 ? args : args.slice(0, start)).filter((text) => !text.startsWith('-'));
  const tests = start === -1 ? [] : args.slice(start);
  const isNarrow = tests.some(
    (text, at) => NARROWING.test(text) && !/^[*?\uE12A\uE13F]+$/.test(tests[at + 1] ?? ''),
  );
  return isNarrow ? [] : roots.map((text) => pathOf(text, command));
}

const finds: Judge = (command, args) => {
  if (!args.some(({ text }) => text === '-delete')) return;
  for (const root of foundRoots(command))
    if (isVital(root)) found(command, `it deletes all that it finds in ${shown(root)}`);
};

const kills: Judge = (command, args) => {
  const targets = args.map(({ text }) => unquoted(text));
  const last = targets.at(-1);
  const isProbe = targets.includes('-0') || targets.includes('-l');
  if (
    !isProbe &&
    ((last === '-1' && targets.length > 1) || (targets.includes('1') && targets.at(-1) === '1'))
  )
    found(
      command,
      last === '1' ? 'it ends the first process of the machine' : 'it ends every process it can',
    );
};

const stops: Judge = (command, args) => {
  if (!args.some(({ text }) => /^(?:-c|--help|--version|-w|--wtmp-only|-k|--show)$/.test(text)))
    found(command, 'it stops the machine');
};

const whenArguments =
  (reason: string, ...patterns: RegExp[]): Judge =>
  (command, args) => {
    const given = args.map(({ text }) => unquoted(text));
    if (patterns.every((pattern) => given.some((text) => pattern.test(text)))) found(command, reason);
  };

const rsyncs: Judge = (command, args) => {
  const { flags, rest } = parseArguments(args, 'e rsh exclude include filter');
  const target = rest.at(-1);
  if (!target || ![...flags].some((flag) => flag.startsWith('delete'))) return;
  const path = pathOf(target.text, command);
  if (isVital(path)) found(command, `it deletes what is in ${shown(path)} and not in the source`);
};

const JUDGES: Record<string, Judge | undefined> = Object.assign(Object.create(null) as object, {
  rm: removes,
  unlink: removes,
  srm: removes,
  rmdir: removes,
  dd,
  mkfs: formats,
  mkswap: formats,
  cp: writesTo(lastArgument),
  install: writesTo(lastArgument),
  ln: writesTo((args) => (hasAny(parseArguments(args, ''), 'f force') ? lastArgument(args) : [])),
  tee: writesTo((args) => (hasAny(parseArguments(args, ''), 'a append') ? [] : args.map(({ text }) => text))),
  truncate: writesTo((args) => parseArguments(args, 's size r reference').rest.map(({ text }) => text)),
  mv: moves,
  shred: shreds,
  wipe: shreds,
  wipefs: onDisk('erases the signatures of', 'a all o offset f force'),
  blkdiscard: onDisk('discards all of'),
  badblocks: onDisk('overwrites', 'w'),
  sgdisk: onDisk('erases the partitions of', 'Z z o zap-all zap clear d delete'),
  sfdisk: onDisk('writes the partitions of'),
  hdparm: onDisk('erases', 'security-erase security-erase-enhanced trim-sector-ranges'),
  nvme: whenArguments('it formats a disk', /^(?:format|sanitize)$/, /^\/dev\//),
  parted: whenArguments(
    'it changes the partitions of a disk',
    /^\/dev\//,
    /^(?:mklabel|mktable|rm|mkpart)\b/,
  ),
  cryptsetup: whenArguments('it erases an encrypted disk', /^(?:luksFormat|erase|luksErase)$/),
  zpool: whenArguments('it destroys a pool', /^destroy$/),
  zfs: whenArguments('it destroys datasets', /^destroy$/, /^-[a-zA-Z]*[rR]/),
  vgremove: whenArguments('it removes a volume group', /^[^-]/),
  mdadm: whenArguments('it erases a RAID', /^--zero-superblock$/),
  diskutil: whenArguments('it erases a disk', /^(?:erase\w*|partitionDisk|secureErase|zeroDisk)$/i),
  chmod: changesMode,
  chown: changesOwner,
  chgrp: changesOwner,
  find: finds,
  fd: () => undefined,
  kill: kills,
  killall5: (command: Command) => found(command, 'it ends every process it can'),
  shutdown: stops,
  reboot: stops,
  halt: stops,
  poweroff: stops,
  init: whenArguments('it stops the machine', /^[06]$/),
  telinit: whenArguments('it stops the machine', /^[06]$/),
  systemctl: whenArguments('it stops the machine', /^(?:reboot|poweroff|halt|kexec|rescue|emergency)$/),
  rsync: rsyncs,
  crontab: (command: Command, args: Word[]) => {
    if (hasAny(parseArguments(args, 'u'), 'r')) found(command, 'it removes all timed jobs');
  },
});
