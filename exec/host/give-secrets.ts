// Hands the secrets that code or input names to the session's holder.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Verbs } from '../protocol';

/** Sent over the private socket, before anything that names them. A holder without support must not run that. */
export async function giveSecrets(
  values: Record<string, string>,
  send: () => Promise<Verbs['secrets']['answer'] | undefined>,
  isThere: boolean,
): Promise<void> {
  const [first] = Object.keys(values);
  if (first === undefined) return;
  const answer = await send().catch((err: unknown) => {
    if (err instanceof HoldfastError && err.code === 'invalid_input') return { taken: false };
    throw err;
  });
  // Holders before 0.2 answer unknown verbs with nothing.
  if (answer?.taken ?? !isThere) return;
  throw new HoldfastError('secret_unusable', {
    got: first,
    reason: 'the terminal of this session was opened by a release without support for secrets',
    next: 'Use another session, or close this one.',
  });
}
