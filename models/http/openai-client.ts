// The OpenAI SDK for one call. Everything that it would otherwise read from the environment is set here.
import type OpenAI from 'openai';
import type { JsonSchema } from '../../contracts/tools/tools';
import type { WireCall } from './http-provider';

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
    fetch,
    timeout: requestMs,
    maxRetries: 0,
    // It logs bodies at level `debug`, which an environment variable could switch on.
    logLevel: 'off',
  });
}

/** Whether it is the vendor's own server: a compatible one may refuse unknown fields. */
export const isVendors = ({ access }: WireCall): boolean =>
  access.baseUrl === null || /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(access.baseUrl);

/** The vendor enforces a schema only if each object requires all its keys and allows no others. */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { properties, required, additionalProperties } = schema as JsonSchema;
  if (typeof properties === 'object' && properties !== null) {
    const listed = Array.isArray(required) ? required : [];
    if (additionalProperties !== false) return false;
    if (Object.keys(properties).some((key) => !listed.includes(key))) return false;
    if (!isStrict(Object.values(properties))) return false;
  }
  return Object.entries(schema).every(([key, value]) => key === 'properties' || isStrict(value));
}
