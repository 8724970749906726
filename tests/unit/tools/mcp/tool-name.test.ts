import { mcpToolName } from '../../../../tools/mcp/tool-name';

test.each([
  ['files', 'read_file', 'mcp__files__read_file'],
  ['files', 'read-file', 'mcp__files__read-file'],
  ['git', 'log.show', 'mcp__git__log_show'],
  ['git', 'übersicht 2', 'mcp__git___bersicht_2'],
])('%s and %s make %s', (server, tool, name) => {
  expect(mcpToolName(server, tool)).toBe(name);
});

test('long names are cut to 64 characters, always in the same way, and stay apart', () => {
  const long = 'a'.repeat(80);
  const [one, two] = [mcpToolName('s', `${long}1`), mcpToolName('s', `${long}2`)];
  expect(one).toMatch(/^mcp__s__a{47}_[0-9a-f]{8}$/);
  expect(one).toHaveLength(64);
  expect(mcpToolName('s', `${long}1`)).toBe(one);
  expect(two).not.toBe(one);
});
