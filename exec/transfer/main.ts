// The process of one transfer on a host: its first argument says what it may do, its input what to do.
import { Socket } from 'node:net';
import { Channel } from './channel';
import type { FilesRequest } from './transfer-messages';
import { serveFiles, type FilesConfig } from './serve-files';

const [config = '{}', request = '{}'] = process.argv.slice(2);
// Not process.stdout: that waits for its reader, and nothing else happens meanwhile.
const output = new Socket({ fd: 1, readable: false, writable: true });
const channel = new Channel(process.stdin, output);
// Its worker is gone, or ends it: what it holds is put in order as after any other end.
process.on('SIGTERM', () => process.stdin.destroy());

void serveFiles(channel, JSON.parse(request) as FilesRequest, JSON.parse(config) as FilesConfig)
  .then(() => channel.end())
  .finally(() => process.exit());
