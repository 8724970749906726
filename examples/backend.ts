// A backend that gives an agent a task, answers what its script asks, reads the output and awaits the result.
// Run it against a server with a worker: `npx holdfast up`, then `node dist/examples/backend.js`.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from 'holdfast';

const call = (tool: string, args: object): { text: string } => ({
  text: JSON.stringify({ thoughts: [], headline: `calls ${tool}`, tool_name: tool, tool_args: args }),
});

async function main(): Promise<void> {
  // TEMPORAL_ADDRESS or a Temporal profile names the server; the embedded one is at the address `up` prints.
  const client = await HoldfastClient.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
  const id = `backend-${Date.now()}`;

  // A scripted model, so that the example runs anywhere. The script asks, and the agent waits for its end.
  const replies = [
    call('code_execution_tool', {
      runtime: 'terminal',
      session: 1,
      code: 'read -r -p "Deploy? " a; echo "deploying: $a"',
    }),
    call('code_execution_tool', { runtime: 'output', session: 1, wait: 'exit', wait_ms: 60_000 }),
    { expect: 'deploying: yes', text: 'It is deployed.' },
  ];
  const file = join(tmpdir(), `${id}.yaml`);
  writeFileSync(file, JSON.stringify(replies));

  const agent = client.agent(id);
  await agent.start({ task: 'Deploy the service', model: `scripted:${file}`, cwd: tmpdir() });

  // The session is opened by the agent's first command: the agent's own messages tell when.
  const session = client.session({ agent: id, session: 1 });
  for await (const { message } of agent.follow()) if (message.role === 'tool') break;
  const asking = await session.output({ wait: 'needs_input' });
  console.log(`the script asks: ${asking.output.trim()}`);

  await session.signalInput({ keyboard: 'yes' });
  const view = await session.output({ from: asking.to, wait: 'exit' });
  console.log(`it went on: ${view.output.trim().replaceAll('\n', ' / ')} (exit code ${view.exitCode})`);

  const { answer, reason, steps } = await agent.result();
  console.log(`${reason} after ${steps} steps: ${answer}`);
  await client.close();
}

main().catch((err: unknown) => {
  console.error(err);
  process.exitCode = 1;
});
