// Our own tests use the matchers that we publish, the way that docs/testing.md describes.
import { turnMatchers, type TurnMatchers } from '../../testing/assert-turn';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- as jest's types want it
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merged into jest's own
    interface Matchers<R> extends TurnMatchers<R> {}
  }
}

expect.extend(turnMatchers);
