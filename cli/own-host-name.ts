// This machine's name as a host.
import { hostname } from 'node:os';
import { ID_PATTERN, LOCAL_HOST } from '../contracts/ids';

/** The default: the machine's own name, as an id. */
export function ownHostName(): string {
  const name =
    hostname()
      .split('.')[0]
      ?.toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '-')
      .slice(0, 60) ?? '';
  const id = name.replace(/^[^a-z0-9]+/, '');
  return ID_PATTERN.test(id) && id !== LOCAL_HOST ? id : 'this-machine';
}
