// `holdfast ui`: a link that opens the page of the running gateway, logged in.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { ALL_AGENTS, type Role } from '../../gateway/access/grants';
import { TokenStore } from '../../gateway/access/token-store';
import { loginLink, runningGateway } from '../../gateway/gateway-record';
import { dataDirOf, type GlobalOptions } from '../context';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

export interface UiOptions extends GlobalOptions {
  role: Role;
}

export async function openPage(options: UiOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const running = runningGateway(dataDir);
  if (!running)
    throw new HoldfastError('not_found', {
      what: 'A running gateway',
      got: `none on ${dataDir}`,
      next: 'Start it with `holdfast serve`.',
    });
  const { role } = options;
  const token = await new TokenStore(dataDir).createLogin({
    name: `link for ${role}`,
    role,
    agents: [ALL_AGENTS],
  });
  const link = loginLink(running.url, token);
  if (options.json) printJson({ url: running.url, link });
  else {
    process.stdout.write(`${inertLine(link)}\n`);
    note('It works once, for ten minutes.');
  }
  return 0;
}
