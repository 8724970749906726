// Payloads in the codec endpoint's JSON: bytes in base64.
import type { Payload } from '@temporalio/common';
import { HoldfastError } from '../contracts/errors/holdfast-error';

interface PayloadJson {
  metadata?: Record<string, string>;
  data?: string;
}

/** Throws `invalid_input`, which reveals nothing of the content. */
export function parsePayloads(body: string): Payload[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw invalid('no JSON');
  }
  const payloads = (parsed as { payloads?: unknown } | null)?.payloads;
  if (!Array.isArray(payloads)) throw invalid('no list "payloads"');
  return payloads.map((payload: unknown, index) => {
    if (!isPayload(payload)) throw invalid(`a payload ${index} of another form`);
    const entries = Object.entries(payload.metadata ?? {});
    return {
      metadata: Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64')])),
      data: Buffer.from(payload.data ?? '', 'base64'),
    };
  });
}

export const printPayloads = (payloads: readonly Payload[]): string =>
  JSON.stringify({
    payloads: payloads.map(({ metadata, data }): PayloadJson => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      ),
      data: Buffer.from(data ?? []).toString('base64'),
    })),
  });

function isPayload(value: unknown): value is PayloadJson {
  if (typeof value !== 'object' || value === null) return false;
  const { metadata = {}, data = '' } = value as { metadata?: unknown; data?: unknown };
  const isText = (text: unknown): boolean => typeof text === 'string';
  return (
    isText(data) && typeof metadata === 'object' && metadata !== null && Object.values(metadata).every(isText)
  );
}

const invalid = (got: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The body',
    got,
    allowed: '{"payloads": [{"metadata": {"encoding": BASE64, ...}, "data": BASE64}, ...]}',
    next: 'Use the format of Temporal’s web UI and command line.',
  });
