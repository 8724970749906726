// `holdfast token`: who may use the API of `holdfast serve`. Works on the data folder; no gateway has to run.
import { inertLine } from '../../contracts/text/inert';
import { ALL_AGENTS } from '../../contracts/text/glob';
import { ROLES, type Role } from '../../contracts/gateway/api';
import { TokenStore, type ListedToken } from '../../gateway/access/token-store';
import { dataDirOf, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import type { Command } from 'commander';
import { collect, duration } from '../arguments';
import { action, below, examples, type Define } from '../define-command';
import { oneOf } from '../one-of';

interface CreateTokenOptions extends GlobalOptions {
  role: Role;
  agents?: string[];
  /** In milliseconds. */
  valid?: number;
}

export const define: Define = (token) => {
  below(token, 'create <name>', 'make one, and print it: it is shown only now')
    .requiredOption('--role <role>', `what it may do: ${ROLES.join(', ')}`, oneOf('--role', ROLES))
    .option(
      '--agents <pattern>',
      'for which agents, such as team-a-*; may be repeated (default: all); an admin is always one of all',
      collect,
    )
    .option('--valid <time>', 'for how long, such as 12h or 30d (default: until it is revoked)', duration)
    .action(
      action((name: string, _own: object, self: Command) =>
        createToken(name, self.optsWithGlobals<CreateTokenOptions>()),
      ),
    );
  below(token, 'list', 'all of them, without their secrets').action(
    action((_own: object, self: Command) => listTokens(self.optsWithGlobals<GlobalOptions>())),
  );
  below(token, 'revoke <name>', 'refuse it from now on; by name or id').action(
    action((name: string, _own: object, self: Command) =>
      revokeToken(name, self.optsWithGlobals<GlobalOptions>()),
    ),
  );
  return token.addHelpText(
    'after',
    examples(
      'holdfast token create ci --role operator --agents "ci-*" --valid 30d',
      'holdfast token list',
      'holdfast token revoke ci',
    ),
  );
};

async function createToken(name: string, options: CreateTokenOptions): Promise<number> {
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

function listTokens(options: GlobalOptions): Promise<number> {
  const tokens = new TokenStore(dataDirOf(options)).list();
  if (options.json) printJson(tokens);
  else if (tokens.length === 0)
    note('There are no tokens. Make one with `holdfast token create NAME --role viewer`.');
  else for (const one of tokens) process.stdout.write(`${inertLine(one.id)}  ${inertLine(about(one))}\n`);
  return Promise.resolve(0);
}

async function revokeToken(name: string, options: GlobalOptions): Promise<number> {
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
