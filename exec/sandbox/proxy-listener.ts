// A process in a new network namespace: listens there, hands the socket to its starter, and ends. A socket stays in the
// network in which it was opened.
import { createServer } from 'node:net';
import { PROXY } from './proxy-address';

process.once('disconnect', () => process.exit());
const server = createServer().listen(PROXY, () => process.send?.(process.pid, server));
