// Options that a program passes are checked as those of the command line are: in plain JavaScript, or from a variable,
// they may be anything.
import { inspect } from 'node:util';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { ownValue } from '../contracts/own';
import { isBundled } from '../encryption/data-converter';

export interface Rule {
  /** What fits, for errors. */
  allowed: string;
  fits: (value: unknown) => boolean;
}

export const rule = (allowed: string, fits: (value: unknown) => boolean): Rule => ({ allowed, fits });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const TEXT = rule('a text', (value) => typeof value === 'string');
export const FOLDER = rule('the path of a folder', (value) => typeof value === 'string' && value !== '');
export const BOOLEAN = rule('true or false', (value) => typeof value === 'boolean');
export const FUNCTION = rule('a function', (value) => typeof value === 'function');
/** Checked elsewhere, in words that know more of it. */
export const ANY = rule('anything', () => true);
export const oneOf = (values: readonly string[]): Rule =>
  rule(values.join(', '), (value) => values.some((one) => one === value));
/** An object with these methods, from whichever copy of its package. */
export const withMethods = (allowed: string, ...names: readonly string[]): Rule =>
  rule(
    allowed,
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  );
export const CONVERTER = rule(
  'only `payloadCodecs`, or encryptedPayloads() of holdfast/encryption: the workflows are bundled beforehand, without ' +
    'converters of your own',
  isBundled,
);
export const TEXTS = rule(
  'an object whose values are texts',
  (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
);
export const FUNCTIONS = rule(
  'an object whose values are functions',
  (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'function'),
);

/**
 * Throws `invalid_input`, which lists every fault. An option that is undefined counts as not given.
 * @param of whose options, for errors
 */
export function checkOptions(
  of: string,
  options: unknown,
  rules: Readonly<Record<string, Rule>>,
  required: readonly string[] = [],
): void {
  if (!isObject(options))
    throw new HoldfastError('invalid_input', {
      what: `What ${of} takes`,
      got: shown(options),
      allowed: `an object with ${Object.keys(rules).join(', ')}`,
    });
  const given = { ...Object.fromEntries(required.map((key) => [key, undefined])), ...options };
  const faults = Object.entries(given).flatMap(([key, value]) => {
    if (value === undefined && !required.includes(key)) return [];
    const known = ownValue(rules, key);
    if (known?.fits(value)) return [];
    const allowed = known ? `${key}: ${known.allowed}` : `the options ${Object.keys(rules).join(', ')}`;
    return [{ got: `${key}: ${shown(value)}`, allowed }];
  });
  if (faults.length === 0) return;
  throw new HoldfastError('invalid_input', {
    what: `What ${of} takes`,
    got: faults.map(({ got }) => got).join('; '),
    allowed: [...new Set(faults.map(({ allowed }) => allowed))].join('; '),
  });
}

/** Of an object only what it has: an environment or a converter may hold secrets. */
const shown = (value: unknown): string =>
  isObject(value)
    ? `an object with ${Object.keys(value).join(', ') || 'nothing'}`
    : inspect(value, { depth: 0, breakLength: Infinity });
