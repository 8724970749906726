// The commands about `holdfast serve`.
import { Option, type Command } from 'commander';
import { ROLES } from '../../contracts/gateway/api';
import type { GlobalOptions } from '../context';
import { collect, duration, listenAddress } from '../arguments';
import { EXAMPLES } from '../examples';
import { createToken, listTokens, openPage, revokeToken, serve } from '../lazy-commands';
import { oneOf } from '../one-of';
import type { ServeOptions } from './serve-gateway';
import type { CreateTokenOptions } from './token';
import type { UiOptions } from './open-page';

type Action = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

/** @param action passes on the exit code */
export function addGatewayCommands(
  command: (name: string, description: string) => Command,
  action: Action,
): void {
  command('serve', 'an HTTP API and a page to watch and steer agents; Ctrl-C ends it')
    .option('--listen <address:port>', 'where; port 0: any free one (default: 127.0.0.1:7280)', listenAddress)
    .addOption(new Option('--detached', 'as the process of `holdfast up`').hideHelp())
    .option(
      '--name <name>',
      'a further name under which it is reached, such as agents.example.org; may be repeated',
      collect,
    )
    .option('--link', 'print a link that logs an admin in; without it only at a terminal')
    .addHelpText('after', EXAMPLES.serve)
    .action(action((options: ServeOptions) => serve(options)));
  command('ui', 'a link that opens the page of the running `holdfast up` or `holdfast serve`')
    .option('--role <role>', ROLES.join(', '), oneOf('--role', ROLES), 'admin')
    .action(action((options: UiOptions) => openPage(options)));
  const token = command('token', 'tokens for the HTTP API');
  const below = (name: string, description: string): Command =>
    token
      .command(name)
      .description(description)
      .exitOverride()
      .configureOutput({ outputError: () => undefined });
  below('create <name>', 'make one, and print it: it is shown only now')
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
  below('list', 'all of them, without their secrets').action(
    action((_own: object, self: Command) => listTokens(self.optsWithGlobals<GlobalOptions>())),
  );
  below('revoke <name>', 'refuse it from now on; by name or id').action(
    action((name: string, _own: object, self: Command) =>
      revokeToken(name, self.optsWithGlobals<GlobalOptions>()),
    ),
  );
}
