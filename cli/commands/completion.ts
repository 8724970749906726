// `holdfast completion`: the script that completes commands and options in a shell, made of the command line itself.
import type { Command, Option } from 'commander';
import { action, examples, type Define } from '../define-command';
import { oneOf } from '../one-of';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const shell = oneOf('The shell', SHELLS);

export const define: Define = (command) =>
  command
    .addHelpText(
      'after',
      examples(
        'source <(holdfast completion bash)                                        in ~/.bashrc',
        'source <(holdfast completion zsh)                                         in ~/.zshrc, after compinit',
        'holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
      ),
    )
    .action(
      action((name: string, _own: object, self: Command) => {
        const lines = self.parent ? linesOf(self.parent) : [];
        process.stdout.write(SCRIPTS[shell(name)](lines));
        return Promise.resolve(0);
      }),
    );

/** What may follow a command: other commands, and its options. */
interface Line {
  /** `''` for `holdfast` itself, `host serve` for one below another. */
  path: string;
  words: { word: string; about: string }[];
}

function linesOf(root: Command): Line[] {
  const visit = (command: Command, path: string[], inherited: readonly Option[]): Line[] => {
    const options = [...command.options, ...inherited].filter(({ hidden }) => !hidden);
    const words = [
      ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
      ...options.flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : [])),
      { word: '--help', about: 'display help for command' },
    ];
    const below = command.commands.flatMap((one) =>
      visit(one, [...path, one.name()], path.length > 0 ? [...command.options, ...inherited] : []),
    );
    return [{ path: path.join(' '), words }, ...below];
  };
  return visit(root, [], []);
}

/** In single quotes; of a description one line. */
const quoted = (text: string): string => `'${text.replace(/\s+/g, ' ').replaceAll("'", "'\\''")}'`;

/** The words of the command that is being typed, as the longest known path at its beginning. */
const cases = (lines: readonly Line[], shown: (line: Line) => string): string =>
  lines.map((line) => `    ${quoted(line.path)}) ${shown(line)} ;;`).join('\n');

const namesIn = ({ words }: Line): string => words.map(({ word }) => word).join(' ');
const pathsOf = (lines: readonly Line[]): string =>
  lines.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' | ');

function bash(lines: readonly Line[]): string {
  return `_holdfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= word next known=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next=\${path:+$path }$word
    case $next in ${pathsOf(lines)}) path=$next ;; esac
  done
  case $path in
${cases(lines, (line) => `known=${quoted(namesIn(line))}`)}
  esac
  COMPREPLY=($(compgen -W "$known" -- "$current"))
}
complete -o default -F _holdfast holdfast
`;
}

function zsh(lines: readonly Line[]): string {
  const described = ({ words }: Line): string =>
    words.map(({ word, about }) => quoted(`${word}:${about}`)).join(' ');
  return `#compdef holdfast
_holdfast() {
  local path_= word next
  local -a known
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next=\${path_:+$path_ }$word
    case $next in ${pathsOf(lines)}) path_=$next ;; esac
  done
  case $path_ in
${cases(lines, (line) => `known=(${described(line)})`)}
  esac
  _describe holdfast known || _files
}
compdef _holdfast holdfast
`;
}

function fish(lines: readonly Line[]): string {
  const rules = lines.flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c holdfast -n ${quoted(`__holdfast_at ${quoted(path)}`)} ${what} -d ${quoted(about)}`;
    }),
  );
  const paths = lines.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' ');
  return `function __holdfast_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- $next ${paths}; and set path $next
  end
  test "$path" = "$argv[1]"
end
${rules.join('\n')}
`;
}

const SCRIPTS = { bash, zsh, fish };
