// Files of an agent's host: read, write, and how much of an interrupted upload is there. A reader of them reads what
// the host's user may, so these need an operator, who may run code there.
import * as shapes from '../../contracts/schemas/http-api';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../contracts/ids';
import type { Channel } from '../../exec/transfer/channel';
import { interrupted } from '../../exec/transfer/door/files-client';
import { pathOf, split } from '../../exec/transfer/names';
import { receiveStream } from '../../exec/transfer/receiver/receive-stream';
import { idOfSum, sendStream } from '../../exec/transfer/sender/send-stream';
import { partOf, rangeOf } from '../files/byte-ranges';
import { digestField, sha256Of } from '../files/digests';
import { fileStream } from '../files/file-stream';
import { filesOf, openFilesOf, type Asked as AskedOfHost, type FilesAccess } from '../files/files-of-agent';
import { uploadBody } from '../files/upload-body';
import type { GatewayContext } from '../gateway-context';
import { route, type Asked, type Connection } from '../http/route';
import { streamWhileAllowed, whileAllowed } from '../http/while-allowed';

const tag = 'files';
const PATH = '/v1/agents/{agent}/files';

const accessOf = ({ client, dataDir, hostToken, isLocal, isElsewhere }: GatewayContext): FilesAccess => ({
  ...{ client, dataDir, isLocal, isElsewhere, token: hostToken },
  ownHost: LOCAL_HOST,
});

interface Place {
  agent: string;
  host: string | undefined;
}

/** Runs `work` with a channel to the agent's host, and closes it after a failure. */
async function withChannel<T>(
  context: GatewayContext,
  { agent, host }: Place,
  { asked, work }: { asked: AskedOfHost; work: (channel: Channel) => Promise<T> },
): Promise<T> {
  const access = accessOf(context);
  const files = await filesOf(access, { agent, host: host ?? null });
  const channel = await openFilesOf(access, files, asked);
  try {
    return await work(channel);
  } catch (err) {
    channel.close();
    throw interrupted(err, { host: files.host });
  }
}

const read = route(
  {
    name: 'readFile',
    ...{ method: 'GET', path: PATH, tag, role: 'operator' },
    summary: 'A file of the agent’s host, as it is; a relative path begins in the agent’s folder',
    description:
      'The ETag names the version of the file; If-None-Match and If-Range take it. An answer that breaks off is not whole. ' +
      'A folder is refused: `holdfast cp` copies folders.',
    query: shapes.fileQuery,
    headers: {
      Range: 'One range of bytes, answered with 206.',
      'If-Range': 'An ETag: of another version all is sent.',
      'If-None-Match': 'An ETag: of this version nothing is sent, with 304.',
      'Want-Repr-Digest':
        'With sha-256, the answer has the header Repr-Digest: the host reads the file twice.',
    },
    hasRanges: true,
  },
  (request) => {
    const { params, query, context, connection } = request;
    const { range, 'if-range': ifRange, 'want-repr-digest': wants } = connection.headers;
    const wanted = rangeOf(range, ifRange === undefined ? undefined : String(ifRange));
    const asked: AskedOfHost = {
      ...{ is: 'get', path: pathOf(query.path), only: 'file' },
      ...(wanted && { range: wanted }),
      ...(/sha-256/i.test(String(wants)) && { digest: true }),
    };
    const work = (channel: Channel): Promise<Response> => answerWith(channel, request);
    return withChannel(context, { agent: params.agent, host: query.host }, { asked, work });
  },
);

async function answerWith(
  channel: Channel,
  request: Asked<typeof PATH, { path: string }, undefined>,
): Promise<Response> {
  const { entry, data } = await receiveStream(channel);
  const { range, size, version, sha256 } = entry;
  // Without one, its content is known only once it is read: files of /proc.
  const versioned: Record<string, string> =
    version === undefined ? {} : { 'Accept-Ranges': 'bytes', ETag: `"${version}"` };
  const headers: Record<string, string> = {
    'Content-Type': 'application/octet-stream',
    'Cache-Control': 'no-store',
    ...versioned,
    'Content-Disposition': `attachment; filename*=UTF-8''${fileName(request.query.path)}`,
    ...(size !== null && { 'Content-Length': String(size) }),
    ...(sha256 !== undefined && { 'Repr-Digest': digestField(sha256) }),
    ...(range && { 'Content-Range': `bytes ${range.from}-${range.to - 1}/${range.size}` }),
  };
  if (version !== undefined && request.connection.headers['if-none-match']?.includes(`"${version}"`)) {
    channel.close();
    return new Response(null, { status: 304, headers: versioned });
  }
  return streamWhileAllowed(
    request,
    (over) => new Response(fileStream(channel, data, over), { status: range ? 206 : 200, headers }),
  );
}

/** As RFC 8187 writes it. */
function fileName(path: string): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  const text = encodeURIComponent(Buffer.from(name || 'file', 'utf8').toString('utf8'));
  return text.replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

const write = route(
  {
    name: 'writeFile',
    ...{ method: 'PUT', path: PATH, tag, role: 'operator' },
    summary: 'Write a file on the agent’s host: it is replaced when all of it has come, or not at all',
    description:
      'With Repr-Digest the content is checked. An interrupted upload with it and a length goes on with Content-Range, ' +
      'from where `files/uploaded` says.',
    query: shapes.fileQuery,
    headers: {
      'Repr-Digest': 'sha-256=:BASE64: of the whole content (RFC 9530).',
      'Content-Range': 'bytes FROM-LAST/SIZE: the body is the rest of an upload.',
      'If-None-Match': '*: a file that exists stays, with 412.',
    },
    takesBytes: true,
    answer: shapes.writtenFile,
  },
  (request) => {
    const { params, query, context, connection } = request;
    const upload = uploadOf(connection);
    const path = pathOf(query.path);
    const clobber = connection.headers['if-none-match'] !== '*';
    return withChannel(
      context,
      { agent: params.agent, host: query.host },
      {
        asked: { is: 'put', path, clobber, only: 'file' },
        work: async (channel) => {
          const { name } = split(path);
          const outcome = await whileAllowed(request, (refused) =>
            sendStream(channel, { name, data: uploadBody(connection.incoming, refused), ...upload }),
          );
          channel.close();
          if (outcome.is === 'failed') throw HoldfastError.received(outcome.error.code, outcome.error.facts);
          if (outcome.is === 'skipped') throw new HoldfastError('file_exists', { got: query.path });
          return { path: query.path, bytes: outcome.bytes, sha256: outcome.sha256 ?? '' };
        },
      },
    );
  },
);

/** Throws `invalid_input`. */
function uploadOf({ headers }: Connection): {
  size: number | null;
  offset: number;
  sha256: string | undefined;
} {
  const part = partOf(headers['content-range'], headers['content-length']);
  const isWhole = headers['content-range'] === undefined;
  const sha256 =
    sha256Of('Repr-Digest', headers['repr-digest']) ??
    (isWhole ? sha256Of('Content-Digest', headers['content-digest']) : undefined);
  if (isWhole || sha256 !== undefined) return { ...part, sha256 };
  throw new HoldfastError('invalid_input', {
    what: 'The header Repr-Digest',
    got: 'none, beside Content-Range',
    allowed: 'sha-256=:BASE64: of the whole content',
  });
}

const uploaded = route(
  {
    name: 'uploadedBytes',
    ...{ method: 'GET', path: `${PATH}/uploaded`, tag, role: 'operator' },
    summary: 'How many bytes of an interrupted upload the host has; 0 if none',
    query: shapes.uploadQuery,
    answer: shapes.uploaded,
  },
  ({ params, query, context }) =>
    withChannel(
      context,
      { agent: params.agent, host: query.host },
      {
        asked: { is: 'uploaded', path: pathOf(query.path), id: idOfSum(query.sha256), size: query.bytes },
        work: async (channel) => {
          const said = await channel.next();
          channel.close();
          return { bytes: said.is === 'there' ? said.bytes : 0 };
        },
      },
    ),
);

export const FILE_ROUTES = [read, write, uploaded];
