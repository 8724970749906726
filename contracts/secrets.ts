// How code and input name a secret: `{{secret:NAME}}`. What it stands for is known to its host alone. Pure.

/** Allowed names of secrets, as of shell variables. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const PLACEHOLDER = /\{\{secret:([A-Za-z_][A-Za-z0-9_]{0,62})\}\}/g;

/** What stands for a secret, before it is filled in and after it is masked. */
export const secretPlaceholder = (name: string): string => `{{secret:${name}}}`;

/** The secrets that a text names, each once. */
export const secretNames = (text: string): string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)),
];

/** Puts values in place of the names; `valueOf` is called for each. */
export const fillSecrets = (text: string, valueOf: (name: string) => string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => valueOf(name));
