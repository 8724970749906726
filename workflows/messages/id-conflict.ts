// Refuses a message whose id was already used for other content.
import { patched } from '@temporalio/workflow';
import { refuse } from './refusal';

/** A validator records nothing, so it must not ask for a patch. */
export type AskedBy = 'validator' | 'handler';

export function conflict(id: string, by: AskedBy): void {
  // Since 0.3.0. Before, a message with a known id counted as that message, whatever its content. Remove the old path
  // when no session and no agent of 0.2.0 is open.
  if (by === 'handler' && !patched('ids-by-content')) return;
  refuse('id_conflict', { got: id });
}
