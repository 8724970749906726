import { importsOf } from '../../../checks/javascript-imports';

test.each([
  ['import', "import a from 'a';\nimport { b } from 'b/part';\nimport 'c'", ['a 1', 'b/part 2', 'c 3']],
  ['export from', "export { a } from 'a';\nexport * from 'b'", ['a 1', 'b 2']],
  [
    'require',
    "const a = require('a');\nconst { b } = require('@s/b').c, d = require('d')",
    ['a 1', '@s/b 2', 'd 2'],
  ],
  ['require and await together', "const a = require('a'); await a()", ['a 1']],
  ['each once', "require('a');\nrequire('a')", ['a 1']],
  ['not Node’s own', "import 'node:fs'; import 'path'; require('fs/promises')", []],
  [
    'not paths and addresses',
    "import './a.js'; import '/b.js'; require('..'); import 'data:text/javascript,1'",
    [],
  ],
  ['not internal ones', "import '#internal'", []],
  ['not in functions', "function f() { require('a') }\nconst g = () => require('b')", []],
  ['not under conditions', "if (x) require('a');\nx && require('b');\ny ? require('c') : 0", []],
  ['not in try', "try { require('a') } catch {}", []],
  ['not import()', "await import('a')", []],
  ['not what is put together', "require('a' + b); require(`c`)", []],
  [
    'nothing behind a call that may provide it',
    "const fs = require('fs');\nfs.mkdirSync('a');\nrequire('a')",
    [],
  ],
  ['nothing behind a module of one’s own', "require('./setup');\nrequire('a')", []],
  ['what is behind printing', "console.log('begins');\nrequire('a')", ['a 2']],
  ['what import names behind a call, which comes first', "f();\nimport a from 'a'", ['a 2']],
  ['none of what does not parse', "import a from 'a'; function (", []],
])('%s', (_what, code, expected) => {
  expect(importsOf(code).map(({ module, line }) => `${module} ${line}`)).toEqual(expected);
});
