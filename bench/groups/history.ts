// What turns add to history: with one step and with five, in each workflow involved; and for a conversation of a
// hundred model calls at the size of its window.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { visibleMessages } from '../../contracts/agents/visible-messages';
import { agentWorkflowId, LOCAL_HOST, sessionWorkflowId, turnWorkflowId } from '../../contracts/ids';
import type { VisibleMessage } from '../../contracts/agents/agent';
import { grown, historySize, type HistorySize } from '../history-size';
import { below, plain, type Row } from '../measure';
import { runTrue, toolBlock } from '../replies';
import { uniqueId, type Bench } from '../setting';

const CALLS = 100;
const PAGE_BYTES = 7_000;
const REPLY_BYTES = 1_000;

export async function history(bench: Bench): Promise<Row[]> {
  return [...(await turns(bench)), ...(await longConversation(bench))];
}

/** Turns of one conversation, each step one `true`; the cost of its start and first session is excluded. */
async function turns(bench: Bench): Promise<Row[]> {
  const id = uniqueId('history');
  const replies = [1, 1, 5].flatMap((steps) => [
    ...Array.from({ length: steps }, () => ({ text: runTrue })),
    { text: 'done' },
  ]);
  const agent = bench.client.agent(id);
  await agent.start({ mode: 'conversation', model: scripted(bench, 'turns', replies) });
  await agent.send('open the session');
  const rows: Row[] = [];
  for (const [index, steps] of [1, 5].entries()) {
    const lasting = [agentWorkflowId(id), sessionWorkflowId({ agent: id, host: LOCAL_HOST, session: 0 })];
    const before = await Promise.all(lasting.map((one) => historySize(bench, one)));
    await agent.send(`${steps} of it`);
    const after = await Promise.all(lasting.map((one) => historySize(bench, one)));
    const [ofAgent, ofSession] = after.map((size, at) => grown(size, before[at] as HistorySize));
    const ofTurn = await historySize(bench, turnWorkflowId(id, index + 2));
    rows.push(
      ...rowsOf(`a turn of ${steps} step${steps > 1 ? 's' : ''}`, [
        ['its own history', ofTurn],
        ["the agent's", ofAgent],
        ["the session's", ofSession],
      ]),
    );
  }
  await agent.stop('measured');
  await agent.result();
  return rows;
}

function rowsOf(what: string, sizes: [string, HistorySize | undefined][]): Row[] {
  return sizes.flatMap(([whose, size]) => [
    plain(`${what}, ${whose}`, size?.events ?? NaN, 'events'),
    plain('- the same', (size?.bytes ?? NaN) / 1e3, 'kB'),
  ]);
}

/** Reads files until the model's window is full, as far as its number of calls allows. */
async function longConversation(bench: Bench): Promise<Row[]> {
  const id = uniqueId('long');
  const folder = join(bench.dataDir, 'pages');
  mkdirSync(folder);
  const replies = Array.from({ length: CALLS - 1 }, (_, n) => {
    const file = join(folder, `page-${n}.txt`);
    writeFileSync(file, lines(`page ${n}`, PAGE_BYTES));
    const block = toolBlock([{ tool: 'read_file', args: { file_path: file } }]);
    return { text: `${lines(`after page ${n}`, REPLY_BYTES - block.length)}${block}` };
  });
  const agent = bench.client.agent(id);
  const model = scripted(bench, 'long', [...replies, { text: 'all read' }]);
  await agent.start({ task: 'Read all pages', model, dialect: 'tagged', limits: { steps: CALLS } });
  const { reason } = await agent.result();
  if (reason !== 'answered') throw new Error(`the conversation ended with ${reason}`);
  const ofAgent = (await historySize(bench, agentWorkflowId(id))).bytes / 1e6;
  const ofTurn = (await historySize(bench, turnWorkflowId(id, 1))).bytes / 1e6;
  const { messages } = await agent.transcript(0, 3 * CALLS);
  const shown = textBytes(visibleMessages(messages)) / 1e6;
  return [
    plain(`${CALLS} model calls in one turn: what the model sees at the last`, shown, 'MB'),
    below("- the turn's history", ofTurn, 'MB', 2),
    below("- the agent's history", ofAgent, 'MB', 2),
    plain('- both', ofAgent + ofTurn, 'MB'),
  ];
}

const lines = (of: string, bytes: number): string =>
  `${of}: a line of it, as long as lines of code and of text mostly are\n`.repeat(bytes).slice(0, bytes);

function scripted({ dataDir }: Bench, name: string, replies: object[]): string {
  const file = join(dataDir, `replies-${name}.yaml`);
  writeFileSync(file, JSON.stringify(replies));
  return `scripted:${file}`;
}

/** As the model reads them, except for a few names. */
const textBytes = (messages: VisibleMessage[]): number =>
  messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(shown(message))), 0);

function shown(message: VisibleMessage): unknown {
  if (message.role === 'tool') return message.content;
  return message.role === 'assistant' ? message.parsed : message.text;
}
