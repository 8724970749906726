// docs/hosts.md: its table of errors is what the catalogue holds about hosts.
import { HOST_ERRORS } from '../../contracts/host-errors';
import { docTable } from '../helpers/doc-blocks';

test('every error about hosts is in the table, and no other', () => {
  const named = docTable('hosts.md', 'Error').map(([code = '']) => code.replaceAll('`', ''));
  expect(named.sort()).toEqual(Object.keys(HOST_ERRORS).sort());
});
