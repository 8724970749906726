// A whole payload as bytes to encrypt: the message `temporal.api.common.v1.Payload`, so that codecs in other languages
// can read it.
import type { Payload } from '@temporalio/common';
import { Reader, Writer } from 'protobufjs/minimal';

/** Field numbers and wire types of the published message: metadata = 1, data = 2; key = 1, value = 2. */
const METADATA = (1 << 3) | 2;
const DATA = (2 << 3) | 2;
const KEY = METADATA;
const VALUE = DATA;

export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  const writer = Writer.create();
  for (const [key, value] of Object.entries(metadata ?? {}))
    writer.uint32(METADATA).fork().uint32(KEY).string(key).uint32(VALUE).bytes(value).ldelim();
  if (data) writer.uint32(DATA).bytes(data);
  return writer.finish();
}

/** Throws for bytes that are not a payload. */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  const reader = Reader.create(bytes);
  const metadata: Record<string, Uint8Array> = {};
  let data: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === METADATA) readEntry(reader, reader.uint32() + reader.pos, metadata);
    else if (tag === DATA) data = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return { metadata, data: data ?? new Uint8Array() };
}

function readEntry(reader: Reader, end: number, into: Record<string, Uint8Array>): void {
  let key = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === KEY) key = reader.string();
    else if (tag === VALUE) value = reader.bytes();
    else reader.skipType(tag & 7);
  }
  into[key] = value;
}
