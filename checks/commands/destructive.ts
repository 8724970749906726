// Commands that destroy: a judge for each program, based on its arguments, never on the text of the line.
import { isCritical, isDisk, isForOwners, isVital, shown } from '../paths';
import { unquoted } from '../text';
import { foundRoots } from './found-by-find';
import { byName, hasAny, parseArguments, pathOf, programName, type Command, type Word } from './command';

type Judge = (command: Command, args: Word[]) => void;

/** Adds a finding if the program with its arguments destroys something that matters. */
export function judgeDestructive(command: Command): void {
  const [program, ...args] = command.words;
  if (!program) return;
  const name = programName(program.text);
  (JUDGES.get(name) ?? (/^(?:mkfs|newfs)[._]|^mke2fs$/.test(name) ? formats : undefined))?.(command, args);
  const [pattern, reason] = LINES.get(name) ?? [];
  const line = args
    .map(({ text }) => ` ${unquoted(text)}`)
    .join('')
    .slice(0, 4_096);
  if (reason !== undefined && pattern?.test(line)) found(command, reason);
}

const STOPS = 'it stops the machine';

const found = ({ check, place }: Command, reason: string): void =>
  check.findings.add('destructive', place, reason);

const removes: Judge = (command, args) => {
  const parsed = parseArguments(args, '');
  for (const { text } of parsed.rest) {
    const path = pathOf(text, command);
    if (isDisk(path) || isCritical(path)) found(command, `it removes ${shown(path)}`);
    else if (hasAny(parsed, 'r R recursive') && isVital(path))
      found(command, `it removes ${shown(path)} with all that is in it`);
    else if (/\/[*?\uE002]/.test(path) && isVital(path))
      found(command, `it removes the files of ${shown(path)}`);
  }
};

const formats: Judge = (command, args) => {
  const parsed = parseArguments(args, 't L b N I m E O U label uuid');
  if (hasAny(parsed, 'V version help n h')) return;
  const disk = parsed.rest.find(({ text }) => isDisk(pathOf(text, command)) || /^\/dev\//.test(text));
  if (disk) found(command, `it formats ${shown(disk.text)}`);
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
const textsOf = (words: Word[]): string[] => words.map(({ text }) => text);
const lastArgument = (args: Word[]): string[] =>
  textsOf(parseArguments(args, 't target-directory S suffix').rest.slice(1)).slice(-1);

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

/** People set up the modes of their homes, and the owners of some more folders. */
const changes =
  (what: string, isUsual: (path: string, setting: string) => boolean): Judge =>
  (command, args) => {
    const parsed = parseArguments(args, 'reference from');
    if (!hasAny(parsed, 'R recursive')) return;
    // A mode such as -rwx looks like options.
    const isSetting = (text: string): boolean => /^[-+=\w]/.test(text) && !/^-+R|^-[vcfR]+$|^--/.test(text);
    const setting = unquoted(textsOf(args).find(isSetting) ?? '');
    for (const { text } of parsed.rest) {
      const path = pathOf(text, command);
      if (isVital(path) && !isUsual(path, setting))
        found(command, `it changes the ${what} of all of ${shown(path)}`);
    }
  };

const finds: Judge = (command, args) => {
  if (!args.some(({ text }) => text === '-delete')) return;
  for (const root of foundRoots(command))
    if (isVital(root)) found(command, `it deletes all that it finds in ${shown(root)}`);
};

const rsyncs: Judge = (command, args) => {
  const { long, rest } = parseArguments(args, 'e rsh exclude include filter');
  const target = rest.at(-1);
  if (!target || ![...long].some((flag) => /^del(?:ete|$)/.test(flag))) return;
  const path = pathOf(target.text, command);
  if (isVital(path)) found(command, `it deletes what is in ${shown(path)} and not in the source`);
};

const JUDGES = byName<Judge>([
  ['rm unlink srm rmdir', removes],
  ['mkfs mkswap', formats],
  ['dd', dd],
  ['cp install', writesTo(lastArgument)],
  ['tee', writesTo((args) => (hasAny(parseArguments(args, ''), 'a append') ? [] : textsOf(args)))],
  ['truncate', writesTo((args) => textsOf(parseArguments(args, 's size r reference').rest))],
  ['mv', moves],
  ['shred wipe', shreds],
  ['chmod', changes('permissions', (path, mode) => path.startsWith('~') && !WIDE_MODE.test(mode))],
  ['chown chgrp', changes('owner', isForOwners)],
  ['find', finds],
  ['rsync', rsyncs],
]);

/** Programs that need no closer look: patterns of their arguments, each behind a space. */
const LINES = byName<[pattern: RegExp, reason: string]>([
  ['wipefs', [/(?=.* -(?:-[af]|-of|[aof]))(?=.* \/dev\/)/, 'it erases the signatures of a disk']],
  ['blkdiscard sfdisk', [/^(?!.* -(?:[ld]|-list|-dump) ).* \/dev\//, 'it erases a disk']],
  ['badblocks', [/(?=.* -\w*w)(?=.* \/dev\/)/, 'it overwrites a disk']],
  ['sgdisk', [/ --(?:zap|clear|delete)| -[Zzod]/, 'it erases the partitions of a disk']],
  ['parted', [/ \/dev\/.* (?:mklabel|mktable|mkpart|rm)(?: |$)/, 'it changes the partitions of a disk']],
  ['cryptsetup', [/ (?:luksFormat|luksErase|erase)/, 'it erases an encrypted disk']],
  ['hdparm nvme', [/ (?:--security-erase|format|sanitize)/, 'it erases a disk']],
  ['diskutil', [/ (?:erase|partitionDisk|secureErase|zeroDisk)/i, 'it erases a disk']],
  ['zpool', [/ destroy(?: |$)/, 'it destroys a pool']],
  ['zfs', [/ destroy (?:.* )?-\w*r/i, 'it destroys datasets']],
  ['kill', [/^(?!.* -[0l] ).* (?:1|-\S+ -1)$/, 'it ends the first process of the machine, or all it can']],
  ['killall5', [/^/, 'it ends every process it can']],
  ['shutdown reboot halt poweroff', [/^(?!.* (?:-[ckw]|--help|--version|--show)(?: |$))/, STOPS]],
  ['init telinit', [/ [06]/, STOPS]],
  ['systemctl', [/ (?:reboot|poweroff|halt|kexec|rescue|emergency)(?: |$)/, STOPS]],
  ['crontab', [/ -r/, 'it removes all timed jobs']],
]);
