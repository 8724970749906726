// The SDK gives a test server five seconds to start, which a busy machine needs just to load it.
import { reasonOf } from '../contracts/errors/holdfast-error';

const STARTS = 10;

/** Starts it again, as often as it is only late: the SDK ends the one that was. */
export async function startPatiently<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (err) {
      if (attempt === STARTS || !/did not start within/.test(reasonOf(err))) throw err;
    }
  }
}
