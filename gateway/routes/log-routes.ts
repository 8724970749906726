// The raw log of a session: pieces by offset, the whole as a file, and where a text is.
import * as shapes from '../../contracts/schemas/http-api';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { GatewayContext } from '../gateway-context';
import { route, type Params } from '../http/route';
import { streamWhileAllowed } from '../http/while-allowed';
import { findInLog } from '../terminals/find-in-log';
import { logStream } from '../terminals/log-stream';
import { placeOf, type SessionPlace } from '../terminals/session-place';

const tag = 'sessions';
const PATH = '/v1/sessions/{agent}/{host}/{session}/log';
const LOG_BYTES = 1024 * 1024;

const placeIn = (context: GatewayContext, params: Params<typeof PATH>): Promise<SessionPlace> =>
  placeOf(context, { ...params, session: Number(params.session) });

const log = route(
  {
    name: 'readLog',
    ...{ method: 'GET', path: PATH, tag, role: 'viewer' },
    summary: 'Raw bytes of the output from an offset on; nothing of it is recorded',
    description:
      'The headers Holdfast-From, Holdfast-To and Holdfast-End say which part this is, and where the log ends now. ' +
      'Holdfast-Missing says why a part between From and To is missing: then there are no bytes.',
    query: shapes.logQuery,
  },
  async ({ params, query: { from = 0, bytes = LOG_BYTES }, context }) => {
    const place = await placeIn(context, params);
    try {
      const end = await place.end();
      // A part that somebody has cut off lies before this end, and is reported as missing.
      if (from > end) throw new HoldfastError('offset_out_of_range', { got: from, allowed: end });
      const piece = await place.read(from, from + bytes);
      return new Response(new Uint8Array(piece.data), {
        headers: {
          'Content-Type': 'application/octet-stream',
          'Content-Disposition': 'attachment',
          'Cache-Control': 'no-store',
          'Holdfast-From': String(from),
          'Holdfast-To': String(piece.to),
          'Holdfast-End': String(end),
          ...(piece.missing && { 'Holdfast-Missing': piece.missing.cause }),
        },
      });
    } finally {
      place.close();
    }
  },
);

const download = route(
  {
    name: 'downloadLog',
    ...{ method: 'GET', path: `${PATH}/download`, tag, role: 'viewer' },
    summary: 'The whole log as a file, up to the end that it has now',
    description: 'A line in it says where a part no longer exists. An answer that breaks off is not whole.',
  },
  async (asked) => {
    const { agent, host, session } = asked.params;
    const place = await placeIn(asked.context, asked.params);
    try {
      return await streamWhileAllowed(
        asked,
        async (over) =>
          new Response(await logStream(place, over), {
            headers: {
              'Content-Type': 'application/octet-stream',
              // Ids and numbers are checked: letters, digits, - and _.
              'Content-Disposition': `attachment; filename="${agent}-${host}-${session}.log"`,
              'Cache-Control': 'no-store',
            },
          }),
      );
    } catch (err) {
      place.close();
      throw err;
    }
  },
);

const find = route(
  {
    name: 'findInLog',
    ...{ method: 'GET', path: `${PATH}/find`, tag, role: 'viewer' },
    summary: 'Where a text is in the log',
    description:
      'Looks through at most 16 MiB from `from` on, or with `back` before it. `at` is the offset of the match, else null; ' +
      'then `next` is the `from` that goes on, null at the end. Bytes are compared as they are.',
    query: shapes.findQuery,
    answer: shapes.found,
  },
  async ({ params, query: { text, from = 0, back = false }, context }) => {
    const place = await placeIn(context, params);
    try {
      return await findInLog(place, { text, from, back });
    } finally {
      place.close();
    }
  },
);

export const LOG_ROUTES = [log, download, find];
