// What is encrypted, and with which keys: from `[encryption]` of holdfast.toml, or from an embedder.
import type { WorkflowKind } from '../contracts/ids';

/** 32 bytes as base64 or hex, in a file with mode 0600 or in a variable. */
export type KeySource = { id: string } & ({ file: string } | { env: string });

export interface EncryptionSettings {
  /** The first key encrypts, all of them decrypt. Empty: nothing is encrypted. */
  keys: readonly KeySource[];
  /** Refuses unencrypted payloads. */
  required?: boolean | undefined;
  /** Kinds of workflows whose messages may be unencrypted anyway: what people send from the web UI. */
  allowPlaintext?: readonly WorkflowKind[] | undefined;
  /** Kinds that accept payloads encrypted for no particular workflow, as the codec endpoint creates them. */
  allowUnbound?: readonly WorkflowKind[] | undefined;
}
