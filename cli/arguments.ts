// Values that people type. The parsers throw what commander reports as a wrong argument.
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { DIALECTS } from '../contracts/models/dialect-names';
import { LOCAL_HOST, checkedId, checkedSession } from '../contracts/ids';
import { RUNTIMES } from '../contracts/sessions/session';
import { LISTEN_ALLOWED, parseListen } from '../system/listen-at';
import { oneOf } from './one-of';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A place or a name. An empty one is a variable of a script that is not set, and must not mean the default. */
export function named(text: string): string {
  if (text === '') throw new InvalidArgumentError('got an empty text, allowed a name or a path.');
  return text;
}

/** Where shells begin: on this machine in the folder that was meant here, by default in this one; elsewhere as it was given. */
export const folderOn = (host: string, cwd: string | undefined): string | undefined =>
  host === LOCAL_HOST ? resolve(cwd ?? '.') : cwd;

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new InvalidArgumentError(`got ${text}, allowed a whole number of at least 0.`);
  return Number(text);
}

export function port(text: string): number {
  if (wholeNumber(text) > 65_535 || Number(text) === 0)
    throw new InvalidArgumentError(`got ${text}, allowed 1 to 65535.`);
  return Number(text);
}

/** `ADDRESS:PORT`, as it was given. */
export function listenAddress(text: string): string {
  if (!parseListen(text)) throw new InvalidArgumentError(`got ${text}, allowed ${LISTEN_ALLOWED}.`);
  return text;
}

/** `12h` in milliseconds. */
export function duration(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number && unit && Number(number) > 0) return Number(number) * UNITS[unit as keyof typeof UNITS];
  throw new InvalidArgumentError(`got ${text}, allowed a number and s, m, h or d, such as 12h.`);
}

/** Collects an option that may be repeated; `false` is its `--no-` form. */
export const collect = (value: string, all: string[] | false = []): string[] => [...(all || []), value];

/** Of an option that may be repeated, with several names separated by commas. */
export const collectNames = (value: string, all: string[] = []): string[] => [
  ...all,
  ...value.split(',').filter((name) => name !== ''),
];

export const agentId = (id: string): string => checkedId('agent', id);
export const hostName = (name: string): string => checkedId('host', name);
export const sessionNumber = (text: string): number =>
  checkedSession(/^\d+$/.test(text) ? Number(text) : text);
export const dialect = oneOf('--dialect', DIALECTS);
export const runtime = oneOf('--runtime', RUNTIMES);

export const TENANT = 'whose agent it is: tenants take turns at the workers';
export const tenant = (id: string): string => checkedId('tenant', id);

export const TOKEN_FILE = 'token of a listening host (default: HOLDFAST_HOST_TOKEN)';
