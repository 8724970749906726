// The OpenAI SDK for one call. Everything that it would otherwise read from the environment is set here.
import type OpenAI from 'openai';
import type { WireCall } from './wire-protocol';
import { isObject, jsonOf } from '../dialects/json-text';
import { textOf } from './replies/untrusted';

export async function openaiClient({ access, fetch, requestMs }: WireCall): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const { key, baseUrl, headers } = access;
  return new Client({
    // The SDK always requires one.
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    defaultHeaders: { ...(key === null && { Authorization: null }), ...headers },
    fetch: (url, init) => withError(fetch(url, init)),
    timeout: requestMs,
    maxRetries: 0,
    // It logs bodies at level `debug`, which an environment variable could switch on.
    logLevel: 'off',
  });
}

/** Whether it is the vendor's own server: a compatible one may refuse unknown fields. */
export const isVendors = ({ access }: Pick<WireCall, 'access'>): boolean =>
  access.baseUrl === null || /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(access.baseUrl);

/** The SDK reads only an error under that name; some servers send it, or the list of faults, as the whole body. */
async function withError(sent: Promise<Response>): Promise<Response> {
  const response = await sent;
  if (response.status < 400) return response;
  const text = await response.text();
  return new Response(errorIn(text) ?? text, response);
}

function errorIn(text: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(body) || isObject(body.error) || textOf(body.error) !== '') return undefined;
  const { message, detail } = body;
  const said = textOf(message) || textOf(detail) || jsonOf(detail ?? body);
  return jsonOf({ error: { ...body, message: said } });
}
