// The single source of data converters for clients, workers, tests and the command line.
import type { DataConverter } from '@temporalio/common';
import { EncryptingCodec } from './encrypting-codec';
import { KeyRing } from './key-ring';
import type { EncryptionSettings } from './encryption-settings';

const FAILURES = require.resolve('./failure-converter');

/**
 * For `HoldfastClient.connect`, `createWorkers` and Temporal's own clients and workers. Reads the keys now; throws
 * `config_invalid`. Without keys nothing is encrypted, and encrypted payloads are refused with a specific error.
 */
export function encryptedPayloads(
  settings: EncryptionSettings,
  env: NodeJS.ProcessEnv = process.env,
): DataConverter {
  const payloadCodecs = [encryptingCodec(settings, env)];
  return settings.keys.length > 0 ? { payloadCodecs, failureConverterPath: FAILURES } : { payloadCodecs };
}

/** Only the codec, for the codec endpoint. Throws `config_invalid`. */
export function encryptingCodec(
  { keys, ...rest }: EncryptionSettings,
  env: NodeJS.ProcessEnv,
): EncryptingCodec {
  return new EncryptingCodec(KeyRing.read(keys, env), rest);
}

/** Whether workflows must encode their failures too: then they need the bundle built with our converter. */
export const encodesFailures = (converter: DataConverter | undefined): boolean =>
  converter?.failureConverterPath === FAILURES;

/** Whether the workflows as they are bundled can work with it: what is loaded by a path is not in there. */
export function isBundled(converter: unknown): boolean {
  if (typeof converter !== 'object' || converter === null) return false;
  const { payloadCodecs = [], payloadConverterPath, failureConverterPath } = converter as DataConverter;
  const isOurs = failureConverterPath === undefined || failureConverterPath === FAILURES;
  return Array.isArray(payloadCodecs) && payloadConverterPath === undefined && isOurs;
}

/** For replays, which know workflow ids but no namespace. */
export function withoutNamespace(converter: DataConverter): DataConverter {
  const payloadCodecs = converter.payloadCodecs?.map((codec) => ({
    encode: codec.encode.bind(codec),
    decode: (...[payloads, context]: Parameters<typeof codec.decode>) =>
      codec.decode(payloads, context && ({ ...context, namespace: undefined } as unknown as typeof context)),
  }));
  return { ...converter, ...(payloadCodecs && { payloadCodecs }) };
}
