// In which language the page takes the code of a call to be.
import { languageOf } from '../../../console/text/code-language';

test.each([
  [{ runs: 'terminal', name: 'code' }, 'bash'],
  [{ runs: 'code_execution_tool', name: 'code', runtime: 'nodejs' }, 'javascript'],
  [{ runs: 'execute_python_code', name: 'code' }, 'python'],
  [{ runs: 'exec_command', name: 'cmd' }, 'bash'],
  [{ runs: 'code_execution_tool', name: 'code', runtime: 'output' }, null],
  [{ runs: 'constructor', name: 'code' }, null],
  [{ runs: 'terminal', name: 'session' }, null],
])('of %j the language is %s', (place, language) => {
  expect(languageOf(place)).toBe(language);
});
