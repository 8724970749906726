// What stays in a field whose text was sent.
import { unsent } from '../../../console/text/unsent';

test.each([
  ['', 'sent', 'sent'],
  [' and more', 'sent and more', 'sent'],
  ['another', 'another', 'sent'],
  ['typed on', 'typed on', ''],
])('%j stays of the field %j after %j was sent', (rest, text, sent) => {
  expect(unsent(text, sent)).toBe(rest);
});
