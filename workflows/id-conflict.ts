// Refuses a message whose id was used before for other content.
import { patched } from '@temporalio/workflow';
import { refuse } from './refusal';

/** A validator records nothing, so it must not ask for a patch. */
export type AskedBy = 'validator' | 'handler';

export function conflict(id: string, by: AskedBy): void {
  // Since 0.3.0. Before, a message with a known id was taken for that message, whatever it said. The old way may go
  // when no session and no agent of 0.2.0 is open.
  if (by === 'handler' && !patched('ids-by-content')) return;
  refuse('id_conflict', { got: id });
}
