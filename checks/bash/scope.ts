// What a script has set so far: variables, functions, aliases, files, the working folder.
import { resolvePath } from '../paths';
import { HOME, UNKNOWN, bounded, unquoted } from '../text';
import type { Placing } from '../findings';
import type { SyntaxNode } from './tree';

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
  ]);
  functions = new Map<string, ShellFunction>();
  aliases = new Map<string, string>();
  /** What the script has written to files, by path. */
  files = new Map<string, string>();
  cwd: string | null = null;
  /** Of the function being followed. */
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
  const args = words.slice(1).filter(({ text }) => !text.startsWith('-'));
  switch (name) {
    case 'cd':
    case 'pushd': {
      const path = resolvePath(args[0]?.text ?? HOME, scope.cwd);
      scope.cwd = /^[/~]/.test(path) ? path.replace(/^~/, HOME) : null;
      return true;
    }
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
