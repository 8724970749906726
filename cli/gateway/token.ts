// `holdfast token`: who may use the API of `holdfast serve`. Works on the data folder; no gateway has to run.
import { inertLine } from '../../contracts/text/inert';
import { ALL_AGENTS } from '../../contracts/text/glob';
import type { Role } from '../../contracts/gateway/api';
import { TokenStore, type ListedToken } from '../../gateway/access/token-store';
import { dataDirOf, type GlobalOptions } from '../context';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

export interface CreateTokenOptions extends GlobalOptions {
  role: Role;
  agents?: string[];
  /** In milliseconds. */
  valid?: number;
}

export async function createToken(name: string, options: CreateTokenOptions): Promise<number> {
  const { role, agents = [ALL_AGENTS], valid } = options;
  const store = new TokenStore(dataDirOf(options));
  const { token, stored } = await store.create({ name, role, agents, validMs: valid ?? null });
  if (options.json) printJson({ ...stored, token });
  else {
    process.stdout.write(`${token}\n`);
    note(`${inertLine(about(stored))}; it is stored nowhere, so keep it now`);
  }
  return 0;
}

export function listTokens(options: GlobalOptions): Promise<number> {
  const tokens = new TokenStore(dataDirOf(options)).list();
  if (options.json) printJson(tokens);
  else if (tokens.length === 0)
    note('There are no tokens. Make one with `holdfast token create NAME --role viewer`.');
  else for (const one of tokens) process.stdout.write(`${inertLine(one.id)}  ${inertLine(about(one))}\n`);
  return Promise.resolve(0);
}

export async function revokeToken(name: string, options: GlobalOptions): Promise<number> {
  const gone = await new TokenStore(dataDirOf(options)).revoke(name);
  if (options.json) printJson(gone);
  else
    for (const one of gone) process.stdout.write(`revoked ${inertLine(one.id)}  ${inertLine(about(one))}\n`);
  return 0;
}

function about({ name, role, agents, expiresAt }: ListedToken): string {
  const until = expiresAt === null ? 'until it is revoked' : `until ${expiresAt}`;
  return `${name}: ${role} of agents ${agents.join(', ')}, ${until}`;
}
