import { readAccess } from '../../../../models/http/access';
import { redact } from '../../../../models/http/redact';
import type { ProviderSettings } from '../../../../models/model-settings';

const settings = (more: Partial<ProviderSettings>): ProviderSettings => ({
  wireApi: 'chat',
  baseUrl: 'http://127.0.0.1/v1',
  key: null,
  headers: {},
  variableHeaders: {},
  streamIdleMs: 1,
  requestMs: 1,
  ...more,
});

test('a short header of the configuration hides no words of an error; one that may be a key, or comes from a variable, is hidden', () => {
  process.env.HOLDFAST_TEST_SHORT = 'pw';
  const { headers, secrets } = readAccess(
    'a:b',
    settings({
      headers: { 'X-Team': 'tools', 'X-Version': '1', 'X-Key': 'sk-123' },
      variableHeaders: { 'X-Pin': 'HOLDFAST_TEST_SHORT' },
    }),
  );
  delete process.env.HOLDFAST_TEST_SHORT;
  expect(Object.keys(headers)).toEqual(['X-Team', 'X-Version', 'X-Key', 'X-Pin']);
  expect(redact('tools[0] must be at least 1, not sk-123 or pw', secrets)).toBe(
    'tools[0] must be at least 1, not [hidden] or [hidden]',
  );
});

test('a short user name in an address hides no words of an error; a password, and a user name that may be a key, are hidden', () => {
  const shown = (baseUrl: string): string =>
    redact(`${baseUrl} is not a valid address`, readAccess('a:b', settings({ baseUrl })).secrets);
  expect(shown('http://a:pw@127.0.0.1/v1')).toBe('http://a:[hidden]@127.0.0.1/v1 is not a valid address');
  expect(shown('http://sk-123@127.0.0.1/v1')).toBe('http://[hidden]@127.0.0.1/v1 is not a valid address');
});
