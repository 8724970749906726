// `holdfast ui`: a link that opens the page of the running gateway, logged in.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { ROLES, type Role } from '../../contracts/gateway/api';
import { runningGateway } from '../../gateway/gateway-record';
import { dataDirOf, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { pageLink } from '../gateway/page-link';
import { action, examples, type Define } from '../define-command';
import { oneOf } from '../one-of';

interface UiOptions extends GlobalOptions {
  role: Role;
}

export const define: Define = (command) =>
  command
    .option('--role <role>', ROLES.join(', '), oneOf('--role', ROLES), 'admin')
    .addHelpText('after', examples('holdfast ui', 'holdfast ui --role viewer   for somebody who only looks'))
    .action(action(openPage));

async function openPage(options: UiOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const running = runningGateway(dataDir);
  if (!running)
    throw new HoldfastError('not_found', {
      what: 'A running gateway',
      got: `none on ${dataDir}`,
      next: 'Start it with `holdfast up` or `holdfast serve`.',
    });
  const link = await pageLink(dataDir, running.url, options.role);
  if (options.json) printJson({ url: running.url, link });
  else {
    process.stdout.write(`${inertLine(link)}\n`);
    note('It works once, for ten minutes.');
  }
  return 0;
}
