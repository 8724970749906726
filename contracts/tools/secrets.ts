// How code and input name a secret: `{{secret:NAME}}`. Only its host knows the value. Pure.

/** Allowed names of secrets, the same as for shell variables. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const PLACEHOLDER = /\{\{secret:([A-Za-z_][A-Za-z0-9_]{0,62})\}\}/g;

/** The text in place of a secret, before it is filled in and after it is masked. */
export const secretPlaceholder = (name: string): string => `{{secret:${name}}}`;

/** The secrets that a text names, each once. */
export const secretNames = (text: string): string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)),
];

/** Puts values in place of the names; `valueOf` is called for each. */
export const fillSecrets = (text: string, valueOf: (name: string) => string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => valueOf(name));

/** Where a secret is filled in: code that a session runs, or input typed into a running program. */
export const SECRET_USES = ['command', 'input'] as const;
export type SecretUse = (typeof SECRET_USES)[number];

/** Who wants a secret, and for what. */
export interface SecretAsker {
  agent: string;
  host: string;
  use: SecretUse;
  /** The code, or the input to be typed. */
  text: string;
}

/** `[secrets.allow]` of one secret; an absent field allows everything. */
export interface SecretAllowance {
  agents?: readonly string[] | undefined;
  hosts?: readonly string[] | undefined;
  use?: readonly SecretUse[] | undefined;
  /** Regular expressions, one of which must match all of the code. With these, the secret may not be used in input. */
  commands?: readonly string[] | undefined;
}

/** Whether a secret may be used this way; a secret without an entry may not be used at all. */
export function allowsSecret(allowance: SecretAllowance | undefined, asker: SecretAsker): boolean {
  if (!allowance) return false;
  const { agents, hosts, use, commands } = allowance;
  const isNamed = (names: readonly string[] | undefined, id: string): boolean =>
    names === undefined || names.some((name) => globOf(name).test(id));
  return (
    isNamed(agents, asker.agent) &&
    isNamed(hosts, asker.host) &&
    (use === undefined || use.includes(asker.use)) &&
    (commands === undefined ||
      (asker.use === 'command' &&
        commands.some((source) => new RegExp(`^(?:${source})$`, 'u').test(asker.text.trimEnd()))))
  );
}

/** Names hold only id characters, none of which is special in a regular expression. */
const globOf = (name: string): RegExp => new RegExp(`^${name.replaceAll('*', '.*')}$`);

/** For the message of an error. */
export function allowanceText(allowance: SecretAllowance | undefined): string {
  if (!allowance) return 'nobody: it is not in [secrets.allow]';
  const said = Object.entries(allowance as Record<string, readonly string[] | undefined>);
  return said.map(([what, values = []]) => `${what} ${values.join(', ') || 'none'}`).join('; ') || 'anybody';
}
