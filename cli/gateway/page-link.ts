// A link to the page that logs a browser in, once.
import { ALL_AGENTS } from '../../contracts/text/glob';
import type { Role } from '../../contracts/gateway/api';
import { TokenStore } from '../../gateway/access/token-store';

/** The token is in the fragment, which no server sees and no log has. */
export async function pageLink(dataDir: string, url: string, role: Role): Promise<string> {
  const name = `link for ${role}`;
  const token = await new TokenStore(dataDir).createLogin({ name, role, agents: [ALL_AGENTS] });
  return `${url}/#token=${token}`;
}
