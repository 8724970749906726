import { withDependencies } from '../../../tools/sessions/python-dependencies';

const lines = (...text: string[]): string => text.join('\n');
const added = (...packages: string[]): string =>
  `\n# /// script\n# dependencies = ${JSON.stringify(packages)}\n# ///\n`;

test.each([
  ['one line', '# dependencies = ["six"]\nimport six', ['six']],
  [
    'versions and markers',
    '# dependencies = ["numpy>=2", "a[b]; python_version < \'4\'"]',
    ['numpy>=2', "a[b]; python_version < '4'"],
  ],
  ['a first line that names the program', '#!/usr/bin/env python3\n\n# dependencies = ["six"]', ['six']],
  [
    'several lines',
    lines('# dependencies = [', '#   "six",', '#   "attrs",', '# ]', '# and more', 'x'),
    ['six', 'attrs'],
  ],
  ['lines that end as on Windows', '# dependencies = ["six"]\r\nimport six\r\n', ['six']],
  ['no space', '#dependencies=["six"]', ['six']],
])('the bare comment with %s becomes a block after the code', (_name, code, packages) => {
  expect(withDependencies(code)).toBe(code + added(...packages));
});

test.each([
  ['no comment', 'import os'],
  ['an empty list', '# dependencies = []\nimport os'],
  ['a comment behind code', 'import os\n# dependencies = ["six"]'],
  ['a text that has it', 'x = """\n# dependencies = 3\n"""'],
  [
    'a block of PEP 723',
    lines('# /// script', '# dependencies = [', '#   "six",', '# ]', '# ///', 'import six'),
  ],
  ['a block without packages', lines('# /// script', '# requires-python = ">=3.8"', '# ///')],
  ['a block of another type', lines('# /// other', '# a = 3', '# ///')],
])('code with %s stays as it is', (_name, code) => {
  expect(withDependencies(code)).toBe(code);
});

test.each([
  ['a text', '# dependencies = "six"', 'Line 1', '"six"'],
  ['a number in the list', '# dependencies = ["six", 3]', 'Line 1', '3'],
  ['no TOML', '\n# dependencies = [six]', 'Line 2', 'invalid TOML'],
  ['a list without an end', '# dependencies = ["six",\nimport six', 'Line 1', 'invalid TOML'],
  ['an option of pip', '# dependencies = ["--pre"]', 'Line 1', '"--pre"'],
  [
    'a wrong list in a block',
    lines('x = 1', '# /// script', '# a = 1', '# dependencies = {}', '# ///'),
    'Line 4',
    '{}',
  ],
  [
    'a block that is no TOML',
    lines('# /// script', '# dependencies = [six]', '# ///'),
    'Line 2',
    'invalid TOML',
  ],
  ['a Python version that is none', lines('# /// script', '# requires-python = 3', '# ///'), 'Line 2', '3'],
  [
    'a block without an end',
    lines('# /// script', '# dependencies = ["six"]', 'import six'),
    'Line 1',
    'without an end',
  ],
  [
    'two blocks',
    lines('# /// script', '# a = 1', '# ///', '', '# /// script', '# a = 1', '# ///'),
    'Line 5',
    'second',
  ],
])('%s is refused with its line', (_name, code, line, got) => {
  const message = expect.stringMatching(`^${line} .*${got.replace(/[{}]/g, '\\$&')}`) as string;
  const refusal = expect.objectContaining({ code: 'invalid_input', message }) as Error;
  expect(() => withDependencies(code)).toThrow(refusal);
});
