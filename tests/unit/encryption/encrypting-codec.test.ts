import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { encryptedPayloads, encryptingCodec, withoutNamespace } from '../../../encryption/data-converter';
import { payloadFromBytes, payloadToBytes } from '../../../encryption/payload-bytes';
import type { EncryptionSettings } from '../../../encryption/encryption-settings';

const CANARY = 'canary-in-the-clear';
const ENV = {
  OLD: randomBytes(32).toString('hex'),
  NEW: randomBytes(32).toString('base64'),
  OTHER: randomBytes(32).toString('base64'),
};
const OLD = { id: 'old', env: 'OLD' };
const NEW = { id: 'new', env: 'NEW' };

const codecOf = (settings: Partial<EncryptionSettings> = {}): ReturnType<typeof encryptingCodec> =>
  encryptingCodec({ keys: [NEW, OLD], ...settings }, ENV);
const workflow = (workflowId: string, namespace = 'default'): SerializationContext => ({
  type: 'workflow',
  namespace,
  workflowId,
});
const activity = (workflowId: string): SerializationContext => ({
  type: 'activity',
  namespace: 'default',
  workflowId,
  isLocal: false,
});
const payload = (value: unknown = CANARY): Payload => defaultPayloadConverter.toPayload(value);
const sealed = async (
  context: SerializationContext | undefined = workflow('agent/a'),
  codec = codecOf(),
): Promise<Payload> => (await codec.encode([payload()], context))[0] as Payload;
const opened = async (
  one: Payload,
  context: SerializationContext | undefined = workflow('agent/a'),
  codec = codecOf(),
): Promise<unknown> =>
  defaultPayloadConverter.fromPayload((await codec.decode([one], context))[0] as Payload);

async function refusal(work: Promise<unknown>): Promise<string> {
  const err = (await work.then(
    () => Promise.reject(new Error('it was taken')),
    (reason: unknown) => reason,
  )) as { code: string; message: string };
  expect(err.message).not.toContain(CANARY);
  for (const key of Object.values(ENV)) expect(err.message).not.toContain(key);
  return `${err.code}: ${err.message}`;
}

test('an encrypted payload decrypts to the original, reveals nothing, and never looks the same twice', async () => {
  const [first, second] = [await sealed(), await sealed()];
  expect(await opened(first)).toBe(CANARY);
  const bytes = Buffer.concat([payloadToBytes(first), payloadToBytes(second)]).toString('latin1');
  expect(bytes).not.toContain(CANARY);
  expect(bytes).not.toContain('json/plain');
  expect(Buffer.from(first.data ?? [])).not.toEqual(Buffer.from(second.data ?? []));
});

test('a payload survives whole: metadata of any number, data of any bytes, nothing at all', () => {
  const all: Payload[] = [
    { metadata: {}, data: new Uint8Array() },
    { metadata: { a: Buffer.from([0, 255]), ü: Buffer.alloc(0) }, data: randomBytes(70_000) },
    payload(undefined),
  ];
  for (const one of all) {
    const back = payloadFromBytes(payloadToBytes(one));
    expect(Object.keys(back.metadata ?? {})).toEqual(Object.keys(one.metadata ?? {}));
    for (const [key, value] of Object.entries(one.metadata ?? {}))
      expect(Buffer.from(back.metadata?.[key] ?? [])).toEqual(Buffer.from(value));
    expect(Buffer.from(back.data ?? [])).toEqual(Buffer.from(one.data ?? []));
  }
});

test.each([
  { title: 'of another workflow', made: workflow('agent/a'), read: workflow('agent/b') },
  { title: 'of another workflow’s activity', made: activity('agent/a'), read: activity('agent/b') },
  { title: 'of another namespace', made: workflow('agent/a'), read: workflow('agent/a', 'other') },
  { title: 'for no workflow in particular', made: undefined, read: workflow('agent/a') },
])('a payload $title is refused', async ({ made, read }) => {
  expect(await refusal(opened((await codecOf().encode([payload()], made))[0] as Payload, read))).toMatch(
    /^payload_moved: .*made for another place/,
  );
});

test('changed metadata beside the ciphertext is detected: nobody can relabel it for another workflow', async () => {
  const one = await sealed(workflow('agent/a'));
  const metadata = { ...one.metadata, 'encryption-workflow-id': Buffer.from('agent/b') };
  expect(await refusal(opened({ ...one, metadata }, workflow('agent/b')))).toMatch(/^payload_not_authentic/);
  const unbound = { ...one.metadata };
  delete unbound['encryption-workflow-id'];
  expect(await refusal(opened({ ...one, metadata: unbound }, undefined))).toMatch(/^payload_not_authentic/);
});

test('a payload that is cut off or changed anywhere is refused', async () => {
  const one = await sealed();
  const data = Buffer.from(one.data ?? []);
  for (let length = 0; length < data.length; length++)
    expect(await refusal(opened({ ...one, data: data.subarray(0, length) }))).toMatch(
      /^payload_not_authentic/,
    );
  for (let at = 0; at < data.length; at++) {
    const changed = Buffer.from(data);
    changed[at] = (changed[at] as number) ^ 1;
    expect(await refusal(opened({ ...one, data: changed }))).toMatch(/^payload_not_authentic/);
  }
});

test('the wrong key under the same id and an unknown id are told apart', async () => {
  const one = await sealed();
  const wrong = encryptingCodec({ keys: [{ id: 'new', env: 'OTHER' }] }, ENV);
  expect(await refusal(opened(one, undefined, wrong))).toMatch(/^payload_not_authentic.*sealed with key new/);
  expect(await refusal(opened(one, undefined, codecOf({ keys: [OLD] })))).toMatch(
    /^payload_key_unknown.*got key "new", allowed old\./,
  );
  expect(await refusal(opened(one, undefined, codecOf({ keys: [] })))).toMatch(/allowed none, no keys/);
});

test('after a rotation the new key encrypts, and what the old one has sealed is still read', async () => {
  const before = await sealed(workflow('agent/a'), codecOf({ keys: [OLD] }));
  expect(await opened(before)).toBe(CANARY);
  expect(String((await sealed()).metadata?.['encryption-key-id'])).toBe('new');
});

test('plaintext is read until encryption is required; then only for the listed kinds of workflow', async () => {
  expect(await opened(payload())).toBe(CANARY);
  const strict = codecOf({ required: true });
  expect(await refusal(opened(payload(), workflow('agent/a'), strict))).toMatch(
    /^payload_plaintext: .*got encoding "json\/plain" for agent\/a, allowed binary\/encrypted/,
  );
  const named = codecOf({ required: true, allowPlaintext: ['agent'] });
  expect(await opened(payload(), workflow('agent/a'), named)).toBe(CANARY);
  expect(await refusal(named.decode([payload()]))).toMatch(/^payload_plaintext/);
  for (const elsewhere of [workflow('exec/a/local/0'), workflow('agent/a/turn/1'), activity('agent/a')])
    expect(await refusal(opened(payload(), elsewhere, named))).toMatch(/^payload_plaintext/);
});

test('what the codec endpoint has encrypted for no particular workflow is accepted by the listed kinds', async () => {
  const [one] = await codecOf().encodeFor([payload()], { namespace: 'default' });
  const named = codecOf({ required: true, allowUnbound: ['session'] });
  expect(await opened(one as Payload, workflow('exec/a/local/0'), named)).toBe(CANARY);
  expect(await refusal(opened(one as Payload, workflow('agent/a'), named))).toMatch(
    /^payload_moved.*none in particular/,
  );
});

test('a replay compares the workflow and no namespace, which it does not know', async () => {
  const [codec] = withoutNamespace(encryptedPayloads({ keys: [NEW] }, ENV)).payloadCodecs ?? [];
  const one = await sealed();
  expect(await codec?.decode([one], workflow('agent/a', 'elsewhere'))).toHaveLength(1);
  expect(await refusal(codec?.decode([one], workflow('agent/b', 'elsewhere')) as Promise<unknown>)).toMatch(
    /^payload_moved/,
  );
});

describe('keys', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-keys-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const fault = (keys: EncryptionSettings['keys'], env: NodeJS.ProcessEnv = ENV): string => {
    try {
      encryptedPayloads({ keys }, env);
    } catch (err) {
      return (err as Error).message;
    }
    throw new Error('it was taken');
  };

  test('a file that others may read is refused, and the error says how to fix it', () => {
    const file = join(folder, 'a.key');
    writeFileSync(file, ENV.NEW, { mode: 0o600 });
    expect(encryptedPayloads({ keys: [{ id: 'a', file }] }, {}).payloadCodecs).toHaveLength(1);
    chmodSync(file, 0o640);
    expect(fault([{ id: 'a', file }])).toMatch(/key "a": .* has mode 640, allowed 600 \(run: chmod 600/);
  });

  test('every key that cannot be had is listed, and none is shown', () => {
    const short = randomBytes(16).toString('base64');
    const file = join(folder, 'absent.key');
    const said = fault([{ id: 'a', env: 'NONE' }, { id: 'b', env: 'SHORT' }, { id: 'c', file }, NEW, NEW], {
      ...ENV,
      SHORT: short,
    });
    expect(said).toMatch(
      /key "a": the environment has no NONE; key "b": it is a text of 24 characters, allowed 32 bytes/,
    );
    expect(said).toMatch(/key "c": .*ENOENT.*; key "new" is listed more than once/);
    expect(said).not.toContain(short);
    expect(said).not.toContain(ENV.NEW);
  });
});

test('nothing of Node is in what the workflow bundle gets', () => {
  const source = readFileSync(join(__dirname, '../../../encryption/failure-converter.ts'), 'utf8');
  expect([...source.matchAll(/from '([^']+)'/g)].map(([, from]) => from)).toEqual(['@temporalio/common']);
});

test('the mark of a message differs with the key, and reveals nothing without it', () => {
  const marks = [codecOf(), codecOf({ keys: [OLD] }), codecOf({ keys: [] })].map((codec) =>
    codec.fingerprint('yes'),
  );
  expect(new Set(marks).size).toBe(3);
  expect(codecOf().fingerprint('yes')).toBe(marks[0]);
  expect(codecOf().fingerprint('no')).not.toBe(marks[0]);
  const plain = createHash('sha256').update('yes').digest('hex');
  expect(marks.map((mark) => mark === plain)).toEqual([false, false, true]);
});
