// A process in a network namespace that has just been made: listens there, hands the socket to who started it, and
// ends. A socket stays in the network in which it was opened.
import { createServer } from 'node:net';
import { PROXY } from './proxy-address';

process.once('disconnect', () => process.exit());
const server = createServer().listen(PROXY, () => process.send?.(process.pid, server));
