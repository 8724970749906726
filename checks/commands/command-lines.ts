// Shell command lines that stand in options, settings and variables of other programs: `git -c core.pager='…'`.
import { unquoted } from '../text';
import { byName, parseArguments, type Word } from './command';

/** Variables that programs run: as the shell's own, of git, of ssh and of pagers. */
const VARIABLES =
  /^(?:PROMPT_COMMAND|(?:MAN|GIT_|SYSTEMD_|GH_|PSQL_)?PAGER|(?:GIT_|SUDO_|GIT_SEQUENCE_)?EDITOR|VISUAL|BROWSER|GIT_SSH_COMMAND|GIT_SSH|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|(?:GIT|SSH|SUDO)_ASKPASS|RSYNC_RSH|CVS_RSH|LESSOPEN|LESSCLOSE)$/;

/** Settings of git that it runs by a shell; of the last two kinds only values with "!". */
const GIT_SETTINGS =
  /^(?:core\.(?:pager|sshcommand|editor|askpass|fsmonitor|gitproxy|alternaterefscommand)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|(?:merge|diff)tool\..*\.cmd|gpg\..*program|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack))$/i;
const GIT_MARKED = /^(?:alias\..*|credential\.(?:.*\.)?helper)$/i;

/** The code that setting a variable lets others run; undefined if it is no such variable. */
export const lineOfVariable = (name: string, text: string): string | undefined =>
  VARIABLES.test(name) ? text.replace(/^\|/, '') : undefined;

const valuesOf = (args: Word[], taking: string, names: string): Word[] => {
  const { values } = parseArguments(args, taking);
  return names.split(' ').flatMap((name) => values.get(name) ?? []);
};

/** What stands behind the prefix in each of the words that have it. */
const behind = (words: Word[], prefix: RegExp): Word[] =>
  words.flatMap((word) => {
    const text = unquoted(word.text);
    const found = prefix.exec(text)?.[0];
    return found === undefined ? [] : [{ ...word, text: text.slice(found.length) }];
  });

function ofGit(args: Word[]): Word[] {
  const { values, rest } = parseArguments(args, 'c C git-dir work-tree namespace config-env', true);
  const settings = (values.get('c') ?? []).flatMap((word) => {
    const [, key = '', value = ''] = /^([^=]*)=([^]*)$/.exec(unquoted(word.text)) ?? [];
    if (GIT_SETTINGS.test(key)) return [{ ...word, text: value.replace(/^!/, '') }];
    return GIT_MARKED.test(key) && value.startsWith('!') ? [{ ...word, text: value.slice(1) }] : [];
  });
  const [subcommand, ...more] = rest;
  switch (unquoted(subcommand?.text ?? '')) {
    case 'clone':
      return [...settings, ...ofGit(more), ...valuesOf(more, 'u upload-pack c', 'u upload-pack')];
    case 'fetch':
    case 'ls-remote':
    case 'pull':
      return [...settings, ...valuesOf(more, 'upload-pack', 'upload-pack')];
    case 'push':
      return [...settings, ...valuesOf(more, 'receive-pack exec', 'receive-pack exec')];
    case 'rebase':
      return [...settings, ...valuesOf(more, 'x exec', 'x exec')];
    case 'difftool':
      return [...settings, ...valuesOf(more, 'x extcmd', 'x extcmd')];
    case 'filter-branch': {
      const filters =
        'tree-filter index-filter env-filter msg-filter commit-filter parent-filter tag-name-filter';
      return [...settings, ...valuesOf(more, filters, filters)];
    }
    case 'submodule':
      return more[0]?.text === 'foreach'
        ? [...settings, ...asLine(parseArguments(more.slice(1), '', true).rest)]
        : settings;
    case 'bisect':
      return more[0]?.text === 'run' ? [...settings, ...asLine(more.slice(1))] : settings;
    default:
      return settings;
  }
}

/** Words that a shell gets as one line. */
const asLine = (words: Word[]): Word[] => {
  const [first] = words;
  return first ? [{ ...first, text: words.map(({ text }) => text).join(' ') }] : [];
};

const TAR =
  'f file C directory I use-compress-program checkpoint-action to-command rsh-command F info-script new-volume-script T files-from X exclude-from exclude transform xform b L V g';
const ofTar = (args: Word[]): Word[] => [
  ...behind(valuesOf(args, TAR, 'checkpoint-action'), /^exec=/),
  ...valuesOf(args, TAR, 'I use-compress-program to-command rsh-command F info-script new-volume-script'),
];

const ofSsh = (args: Word[]): Word[] =>
  behind(
    valuesOf(args, 'i p l o F L R D J W b c e m S w E I O Q', 'o'),
    /^\s*(?:Proxy|Local|KnownHosts|Remote)Command\s*(?:=\s*|\s)/i,
  );

const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:\\.|[^\/\n\\])*\/I?)`;
const SED_RUNS = new RegExp(
  String.raw`(?:^|[;{}\n])\s*(?:${SED_ADDRESS}(?:\s*,\s*[+~]?${SED_ADDRESS})?\s*!?\s*)?e[ \t]+([^\n]+)`,
  'g',
);
/** `s/…/CODE/e` runs what comes of it. */
const SED_REPLACES =
  /(?:^|[;{}\s\d$/!])s([/|#,@!:%])(?:\\.|(?!\1)[^\\\n])*\1((?:\\.|(?!\1)[^\\\n])*)\1[gpiIMm\d]*e/g;

function ofSed(args: Word[]): Word[] {
  const { values, rest, flags } = parseArguments(args, 'e expression f file l line-length');
  const given = [...(values.get('e') ?? []), ...(values.get('expression') ?? [])];
  const scripts = given.length > 0 || flags.has('f') || flags.has('file') ? given : rest.slice(0, 1);
  return scripts.flatMap((word) => {
    const text = unquoted(word.text).slice(0, 4_096);
    const runs = [...text.matchAll(SED_RUNS)].map(([, code = '']) => code);
    const replaces = [...text.matchAll(SED_REPLACES)].map(([, , code = '']) => code.replace(/\\(.)/g, '$1'));
    return [...runs, ...replaces].map((code) => ({ ...word, text: code }));
  });
}

/** Options of npm's kin: `npx -c LINE`, `npm exec --call LINE`. */
const ofNpx = (args: Word[]): Word[] => valuesOf(args, 'c call p package w workspace', 'c call');

const watched = (args: Word[]): Word[] => {
  const { flags, rest } = parseArguments(args, 'n interval q equexit', true);
  return flags.has('x') || flags.has('exec') ? [] : asLine(rest);
};

const PROGRAMS = byName<(args: Word[]) => Word[]>([
  ['git', ofGit],
  ['tar bsdtar gtar', ofTar],
  ['ssh scp sftp autossh', ofSsh],
  ['rsync', (args) => valuesOf(args, 'e rsh rsync-path exclude include filter f', 'e rsh rsync-path')],
  ['sed gsed', ofSed],
  ['npx npm pnpm pnpx', ofNpx],
  ['watch', watched],
  [
    'hyperfine',
    (args) => [
      ...parseArguments(args, 'w warmup r runs m M n s setup p prepare c cleanup').rest,
      ...valuesOf(args, 's setup p prepare c cleanup w r', 's setup p prepare c cleanup'),
    ],
  ],
  ['nix-shell', (args) => valuesOf(args, 'run command p packages I A attr', 'run command')],
  ['nix', (args) => asLine(behindOption(args, /^(?:-c|--command)$/))],
]);

/** What follows an option that ends all others. */
const behindOption = (args: Word[], option: RegExp): Word[] => {
  const at = args.findIndex(({ text }) => option.test(text));
  return at === -1 ? [] : args.slice(at + 1);
};

/** The lines that the program runs by a shell, with their places. */
export const commandLines = (name: string, args: Word[]): Word[] => PROGRAMS.get(name)?.(args) ?? [];
