// The images of a conversation, for the page: bytes that an agent's tools produced, so a browser must run nothing of them.
import { createHash } from 'node:crypto';
import { fetchBlob } from '../../client/delivery/fetch-blob';
import type { HoldfastClient } from '../../client/holdfast-client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { imageFacts } from '../../contracts/tools/image-header';
import { IMAGE_MIMES, type ImageRef } from '../../contracts/tools/images';
import { route } from '../http/route';

/** For an image that is opened by itself: no script, no form, nothing from anywhere. */
const POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";

const image = route(
  {
    name: 'getImage',
    ...{ method: 'GET', path: '/v1/agents/{agent}/images/{sha256}', tag: 'agents', role: 'viewer' },
    summary: 'An image that a result in the conversation names',
    types: IMAGE_MIMES,
  },
  async ({ params: { agent, sha256 }, connection, context, signal }) => {
    const { client, images } = context;
    const ref = await images.find(client.agent(agent), sha256);
    if (!ref) throw missing(sha256, 'Take the hash of an image from the transcript.');
    const headers = {
      'Content-Security-Policy': POLICY,
      'Content-Disposition': 'inline',
      // Asked for again each time: a reader who has lost the agent does not get it from a cache.
      'Cache-Control': 'private, no-cache',
      ETag: `"${sha256}"`,
    };
    if (connection.headers['if-none-match'] === headers.ETag)
      return new Response(null, { status: 304, headers });
    const data = await bytesOf(client, ref, signal);
    return new Response(new Uint8Array(data), {
      headers: { ...headers, 'Content-Type': imageFacts(data).mime },
    });
  },
);

/** The agents' workers keep what a model has seen; before that, only the machine that made it has it. */
async function bytesOf(client: HoldfastClient, ref: ImageRef, signal: AbortSignal): Promise<Buffer> {
  const { queue } = client.server;
  for (const at of new Set([queue, ref.at ?? queue]))
    try {
      const data = await fetchBlob(client, { ...ref, at }, signal);
      if (createHash('sha256').update(data).digest('hex') === ref.sha256) return data;
    } catch (err) {
      signal.throwIfAborted();
      if (!(err instanceof HoldfastError) || err.code !== 'not_found') throw err;
    }
  throw missing(ref.sha256, 'It is no longer stored, or was changed there.');
}

const missing = (got: string, next: string): HoldfastError =>
  new HoldfastError('not_found', { what: 'The image', got, next });

export const IMAGE_ROUTES = [image];
