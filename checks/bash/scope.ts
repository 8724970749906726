// What a script has set so far: variables, functions, aliases, files, the working folder.
import { resolvePath } from '../paths';
import { HOME, UNKNOWN, bounded, unquoted } from '../text';
import type { Placing } from '../findings';
import type { SyntaxNode } from './syntax-tree';

/** Per variable: more values are not followed. */
const MAX_VALUES = 8;

export interface ShellFunction {
  body: SyntaxNode;
  /** The code that the nodes' offsets refer to. */
  code: string;
  placing: Placing;
}

export class Scope {
  variables = new Map<string, string[]>([
    ['HOME', [HOME]],
    ['OLDPWD', [UNKNOWN]],
    ['IFS', [' \t\n']],
  ]);
  functions = new Map<string, ShellFunction>();
  /** Names of the functions that the script defines anywhere: a body or a trap may use what is defined below it. */
  declared: ReadonlySet<string> = new Set();
  /** What is followed now runs later, when they are all there. */
  isLater = false;
  aliases = new Map<string, string>();
  /** What the script has written to files, by path. */
  files = new Map<string, string>();
  cwd: string | null = null;
  /** The folder before the last `cd`, and those that `pushd` has put aside. */
  previous: string | null = null;
  putAside: readonly (string | null)[] = [];
  /** The parameters of the function being followed. */
  parameters: string[] | null = null;
  /** How many branches and loops surround the current statement. */
  branches = 0;

  /** A variable's values; undefined if the script does not set it. */
  get(name: string): string[] | undefined {
    if (name === 'PWD' && this.cwd !== null) return [this.cwd];
    return this.variables.get(name);
  }

  /** In a branch it adds to the previous values, otherwise it replaces them. */
  set(name: string, values: string[]): void {
    const before = this.branches > 0 ? (this.variables.get(name) ?? []) : [];
    this.variables.set(name, [...new Set([...before, ...values.map(bounded)])].slice(-MAX_VALUES));
  }

  /** For a subshell: its changes are not seen here, except for files. */
  copy(): Scope {
    const scope: Scope = Object.assign(new Scope(), this);
    scope.variables = new Map(this.variables);
    scope.functions = new Map(this.functions);
    scope.aliases = new Map(this.aliases);
    return scope;
  }
}

/** Commands that change the shell itself. False if the command is none of these. */
export function runBuiltin(scope: Scope, name: string, words: { text: string }[]): boolean {
  const args = words.slice(1).filter(({ text }) => !/^-./.test(text));
  switch (name) {
    case 'cd':
      enter(scope, args[0]?.text === '-' ? scope.previous : folderOf(scope, args[0]?.text ?? HOME));
      return true;
    case 'pushd':
    case 'popd':
      changeStack(scope, name, words[1]?.text);
      return true;
    case 'alias':
      for (const { text } of args) {
        const [left = '', ...right] = unquoted(text).split('=');
        if (right.length > 0) scope.aliases.set(left, right.join('='));
      }
      return true;
    case 'read':
    case 'mapfile':
    case 'readarray':
      for (const { text } of args) if (/^[A-Za-z_]\w*$/.test(text)) scope.set(text, [UNKNOWN]);
      return true;
    case 'set':
      return args.length > 0;
    default:
      return false;
  }
}

function folderOf(scope: Scope, text: string): string | null {
  const path = resolvePath(text, scope.cwd);
  return /^[/~]/.test(path) ? path.replace(/^~/, HOME) : null;
}

function enter(scope: Scope, folder: string | null): void {
  scope.previous = scope.cwd;
  scope.cwd = folder;
}

function changeStack(scope: Scope, name: 'pushd' | 'popd', target: string | undefined): void {
  const { cwd, putAside } = scope;
  if (/^[-+]/.test(target ?? '')) {
    // Rotations are not followed.
    scope.putAside = [];
    enter(scope, null);
  } else if (name === 'pushd' && target !== undefined) {
    scope.putAside = [...putAside, cwd];
    enter(scope, folderOf(scope, target));
  } else {
    // `pushd` alone swaps.
    scope.putAside = name === 'popd' ? putAside.slice(0, -1) : [...putAside.slice(0, -1), cwd];
    enter(scope, putAside.at(-1) ?? null);
  }
}
