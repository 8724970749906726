// Options that accept only certain words.
import { HoldfastError } from '../contracts/errors/holdfast-error';

/** A parser that accepts one of `values` and throws `invalid_input` for `what` otherwise. */
export const oneOf =
  <const Value extends string>(what: string, values: readonly Value[]) =>
  (text: string): Value => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    throw new HoldfastError('invalid_input', { what, got: text, allowed: values.join(', ') });
  };
