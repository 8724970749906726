// The commands below `holdfast host`.
import type { Command } from 'commander';
import { checkedId } from '../contracts/ids';
import { ACCESS } from '../contracts/sessions/remote-hosts';
import { named } from './arguments';
import type { ServeHostOptions } from './commands/host';
import type { GlobalOptions } from './context';
import { EXAMPLES } from './examples';
import {
  enrolHost,
  forgetHost,
  hostAccess,
  hostToken,
  listHosts,
  serveHost,
  showHost,
} from './lazy-commands';
import { oneOf } from './one-of';

type Action = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

const accessLevel = oneOf('The access', ACCESS);

const hostName = (name: string): string => checkedId('host', name);

/** @param action passes on the exit code */
export function addHostCommands(host: Command, action: Action): void {
  const below = (name: string, description: string): Command =>
    host
      .command(name)
      .description(description)
      .exitOverride()
      .configureOutput({ outputError: () => undefined });
  host.addHelpText('after', EXAMPLES.host);
  below('serve <name>', 'serve the shells of this machine until ctrl-c; programs in them keep running')
    .option('--access <level>', 'read-write, read-only or off; kept for later starts', accessLevel)
    .option('--root <dir>', 'where shells start (default: this folder)', named)
    .option('--listen <address:port>', 'accept connections there for attach and live output (TLS, token)')
    .action(
      action((name: string, _own: object, self: Command) =>
        serveHost(hostName(name), self.optsWithGlobals<ServeHostOptions>()),
      ),
    );
  below('ls', 'all hosts: which are online, what each allows').action(
    action((_own: object, self: Command) => listHosts(self.optsWithGlobals<GlobalOptions>())),
  );
  below('show <name>', 'one host').action(
    action((name: string, _own: object, self: Command) =>
      showHost(hostName(name), self.optsWithGlobals<GlobalOptions>()),
    ),
  );
  below('access <name> [level]', 'on the host itself: what code may do there, from the next call on').action(
    action((name: string, level: string | undefined, _own: object, self: Command) =>
      hostAccess(
        hostName(name),
        level === undefined ? undefined : accessLevel(level),
        self.optsWithGlobals<GlobalOptions>(),
      ),
    ),
  );
  below('enrol <name>', 'make a separate namespace for a host that must not reach the agents').action(
    action((name: string, _own: object, self: Command) =>
      enrolHost(hostName(name), self.optsWithGlobals<GlobalOptions>()),
    ),
  );
  below('token <name>', 'on the host itself: print the token that admits people when it listens').action(
    action((name: string, _own: object, self: Command) =>
      hostToken(hostName(name), self.optsWithGlobals<GlobalOptions>()),
    ),
  );
  below('forget <name>', 'remove a host that will not come back').action(
    action((name: string, _own: object, self: Command) =>
      forgetHost(hostName(name), self.optsWithGlobals<GlobalOptions>()),
    ),
  );
}
