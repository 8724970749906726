// What is to be encrypted with what: as `[encryption]` of holdfast.toml says it, or an embedder.
import type { WorkflowKind } from '../contracts/ids';

/** 32 bytes as base64 or hex, in a file of mode 0600 or in a variable. */
export type KeySource = { id: string } & ({ file: string } | { env: string });

export interface EncryptionSettings {
  /** The first one encrypts, all of them decrypt. Empty: nothing is encrypted. */
  keys: readonly KeySource[];
  /** Refuses what is not encrypted. */
  required?: boolean;
  /** Kinds of workflows whose messages may come unencrypted all the same: what people send from the web UI. */
  allowPlaintext?: readonly WorkflowKind[];
  /** Kinds that take what was encrypted for no workflow in particular, as the codec endpoint does it. */
  allowUnbound?: readonly WorkflowKind[];
}
