// The workflows as bundled at build time. There are two bundles, because a failure's message is made in the workflow.
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { encodesFailures } from '../encryption/data-converter';
import { packageRoot } from '../system/package-root';

/** For the worker option `workflowBundle`. */
export function workflowBundle(dataConverter: DataConverter | undefined): { codePath: string } {
  const name = encodesFailures(dataConverter) ? 'workflow-bundle-encoding.js' : 'workflow-bundle.js';
  return { codePath: join(packageRoot(), 'dist', name) };
}
