import type { Client } from '@temporalio/client';
import { HoldfastClient } from '../../../client/holdfast-client';
import { toolOnHost } from '../../helpers/tools/tool-call';

/** Whatever is sent through it fails. */
const client = new HoldfastClient({} as Client, '127.0.0.1:1');

test.each<[string, Record<string, unknown>]>([
  ['exec_command', { cmd: 'true' }],
  ['execute_python_code', { code: 'print(1)' }],
  ['code_execution_tool', { runtime: 'terminal', session: 0, code: 'true' }],
])('a call of %s that was cut off sends no command', async (name, args) => {
  const tool = toolOnHost(name);
  const signal = AbortSignal.abort(new Error('cut off'));
  await expect(tool.value(args, { client, signal })).rejects.toThrow('cut off');
  tool.remove();
});
