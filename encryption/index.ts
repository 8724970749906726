// The package's export `holdfast/encryption`: for clients and workers in your own process.
export { encryptedPayloads } from './data-converter';
export type { EncryptionSettings, KeySource } from './encryption-settings';
