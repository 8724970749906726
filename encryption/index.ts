// What the package exports as `holdfast/encryption`: for clients and workers in one's own process.
export { encryptedPayloads } from './data-converter';
export type { EncryptionSettings, KeySource } from './settings';
