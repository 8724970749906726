// The messages of `host`, the workflow that tracks whether a host is online.
import type { HostFacts, HostState } from '../schemas/remote-hosts';
import { query, signal } from './message';

export const HOST_MESSAGES = {
  state: query<undefined, HostState>({
    name: 'state',
    from: 'anyone',
    does: 'Whether the host is online, and what it can do',
    answer: 'hostState',
  }),
  forget: signal({
    name: 'forget',
    from: 'anyone',
    does: 'The host will not come back',
  }),
  announce: signal<HostFacts>({
    name: 'announce',
    from: 'the host itself',
    does: 'it is online',
    request: { schema: 'hostFactsSchema', what: 'The announcement of the host' },
  }),
};
