// A build of this package whose turns take a new path, behind a patch, as those of the next release may: a worker of this
// build cannot go on with a turn that has taken it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';

const PARTS = ['package.json', 'bin', 'dist', 'engine', 'exec', 'models', 'checks', 'tools'];
/** In the loop of a turn. */
const STEP = 'this.budget.steps += 1;';
const NEW_STEP = `(0, workflow_1.patched)('of-the-next-build'); ${STEP}`;

export class NextBuild {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-next-'));
  readonly bin = join(this.folder, 'bin', 'holdfast.js');

  constructor() {
    const root = packageRoot();
    execFileSync('cp', ['-a', ...PARTS.map((part) => join(root, part)), this.folder]);
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    const bundle = join(this.folder, 'dist', 'workflow-bundle.js');
    const code = readFileSync(bundle, 'utf8');
    if (code.split(STEP).length !== 2) throw new Error('the loop of a turn is not where it was');
    writeFileSync(bundle, code.replace(STEP, NEW_STEP));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
