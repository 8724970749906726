// What the package exports as `holdfast/files`: files of a host, in and out.
export { HostFiles, type CopyOptions, type HostPath } from './door/copy-files';
export type { FilesAddress } from './door/files-client';
export type { Observer, Outcome } from './outcomes';
