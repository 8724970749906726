// What a script has set so far: variables, functions, aliases, files, the working folder.
import { HOME, UNKNOWN, bounded } from '../text';
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
  readonly variables = new Map<string, string[]>([
    ['HOME', [HOME]],
    ['OLDPWD', [UNKNOWN]],
  ]);
  readonly functions = new Map<string, ShellFunction>();
  readonly aliases = new Map<string, string>();
  /** What the script has written to files, by path. */
  readonly files = new Map<string, string>();
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
    const scope = new Scope();
    for (const [name, values] of this.variables) scope.variables.set(name, values);
    for (const [name, body] of this.functions) scope.functions.set(name, body);
    for (const [name, text] of this.aliases) scope.aliases.set(name, text);
    Object.assign(scope, {
      files: this.files,
      cwd: this.cwd,
      parameters: this.parameters,
      branches: this.branches,
    });
    return scope;
  }
}
