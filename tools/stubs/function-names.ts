// The function name of a tool in each language. Any tool name becomes a valid identifier.
import { HoldfastError } from '../../contracts/errors/holdfast-error';

const LANGUAGES = ['python', 'javascript'] as const;
type Language = (typeof LANGUAGES)[number];

const PYTHON_KEYWORDS = new Set(
  (
    'False None True __debug__ and as assert async await break class continue def del elif else except finally ' +
    'for from global if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const JAVASCRIPT_KEYWORDS = new Set(
  (
    'arguments async await break case catch class const continue debugger default delete do else enum eval export ' +
    'extends false finally for function if implements import in instanceof interface let new null package private ' +
    'protected public return static super switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
);
/** Names that the modules themselves export, and `then`, which would turn a module into a promise. */
const OWN_NAMES: Record<Language, ReadonlySet<string>> = {
  python: new Set(['aio', 'call', 'tools', '_run', '_locals', '_stubs', '_runtime']),
  javascript: new Set(['call', 'tools', 'then', '_runtime', '_tools']),
};
const KEYWORDS: Record<Language, ReadonlySet<string>> = {
  python: PYTHON_KEYWORDS,
  javascript: JAVASCRIPT_KEYWORDS,
};

/** The language-independent name: only a-z, 0-9 and "_". */
export function functionName(tool: string): string {
  const name = tool.toLowerCase().replace(/[^a-z0-9_]/gu, '_');
  return /^[a-z_]/.test(name) ? name : `_${name}`;
}

/** The name in a language: reserved names get a trailing "_". */
export function functionNameIn(language: Language, tool: string): string {
  const name = functionName(tool);
  const taken = KEYWORDS[language].has(name) || OWN_NAMES[language].has(name) || name.startsWith('__');
  return taken ? `${name}_` : name;
}

/** Which tools would become the same function in some language, and so be ambiguous. */
export class Namesakes<Named extends { name: string }> {
  private readonly byFunction = new Map<string, Named[]>();

  constructor(tools: Iterable<Named> = []) {
    for (const tool of tools) this.add(tool);
  }

  add(tool: Named): void {
    for (const name of functionsOf(tool)) {
      const known = this.byFunction.get(name);
      if (known) known.push(tool);
      else this.byFunction.set(name, [tool]);
    }
  }

  /** One of those that were added, other than the tool itself. */
  of(tool: { name: string }): Named | undefined {
    for (const name of functionsOf(tool)) {
      const other = this.byFunction.get(name)?.find((one) => one !== tool);
      if (other) return other;
    }
    return undefined;
  }
}

const functionsOf = ({ name }: { name: string }): string[] =>
  LANGUAGES.map((language) => `${language} ${functionNameIn(language, name)}`);

/** Throws `tool_name_taken` if a function would stand for two tools: the first never silently wins. */
export function checkFunctionNames(tools: readonly { name: string }[]): void {
  for (const language of LANGUAGES) {
    const before = new Map<string, string>();
    for (const { name } of tools) {
      const key = functionNameIn(language, name);
      const namesake = before.get(key);
      if (namesake !== undefined) throw new HoldfastError('tool_name_taken', { got: name, before: namesake });
      before.set(key, name);
    }
  }
}

/** Argument -> Python parameter, in the given order. Valid identifiers keep their names. */
export function parameterNames(names: readonly string[]): Map<string, string> {
  const kept = names.filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isTakenParameter(name));
  const taken = new Set(kept);
  return new Map(
    names.map((name) => {
      if (kept.includes(name)) return [name, name];
      let parameter = name.replace(/[^A-Za-z0-9_]/gu, '_');
      if (!/^[A-Za-z_]/.test(parameter)) parameter = `_${parameter}`;
      while (taken.has(parameter) || isTakenParameter(parameter)) parameter += '_';
      taken.add(parameter);
      return [name, parameter];
    }),
  );
}

/** Parameters must not hide the two names that the function's body uses. */
const isTakenParameter = (name: string): boolean =>
  PYTHON_KEYWORDS.has(name) || name === '_run' || name === '_locals';
