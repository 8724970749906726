// `holdfast.toml` as a worker reads it, in a folder of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { readConfiguration, type Configuration } from '../../../workers/configuration/configuration';

export class WrittenConfiguration {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
  readonly file = join(this.folder, 'holdfast.toml');

  read(toml: string, env: NodeJS.ProcessEnv = {}): Configuration {
    writeFileSync(this.file, toml);
    return readConfiguration({ file: this.file, isNamed: true, env, programEnv: { PATH: '/bin' } });
  }

  /** What is wrong with it. */
  faultsOf(toml: string): string {
    return faultsIn(() => this.read(toml));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function faultsIn(work: () => unknown): string {
  try {
    work();
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'config_invalid') return String(err.facts.faults);
    throw err;
  }
  throw new Error('it was taken');
}
