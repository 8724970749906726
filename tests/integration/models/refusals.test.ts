// A model that refuses ends its turn with what it says, whatever its reply should have looked like.
import { DIALECTS, type DialectName } from '../../../contracts/models/dialect-names';
import type { ModelRequest, RawReply } from '../../../models/provider';
import { HoldfastTestEnvironment, simulatedHost, toolCall } from '../../../testing';

let env: HoldfastTestEnvironment;
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost({ true: '' }) });
}, 60_000);
afterAll(() => env.close());

const CALL = toolCall('list_agents', {});
/** What a dialect would have sent back, or run. */
const REFUSALS: Record<DialectName, string[]> = {
  'agent-json': [`I will not. ${CALL.slice(0, -5)}`, CALL],
  tagged: ['I will not. <tool>[{"tool_name":', '<tool>[{"tool_name":"list_agents","arguments":{}}]</tool>'],
  native: ['I will not.', '<think>Would it harm?'],
};
const cases = DIALECTS.flatMap((dialect) =>
  [undefined, { type: 'object' }].flatMap((outputSchema) =>
    REFUSALS[dialect].map((text) => ({ dialect, text, outputSchema })),
  ),
);

test.each(cases)(
  'a refusal ends the turn with the model’s words: in $dialect, with the schema $outputSchema: $text',
  async (asked) => {
    const { dialect, text, outputSchema } = asked;
    const requests: ModelRequest[] = [];
    const model = env.model({
      dialect,
      reply: (request) => {
        const reply: RawReply = requests.length === 0 ? { text, isRefusal: true } : { text: '{}' };
        requests.push(request);
        return Promise.resolve(reply);
      },
    });
    const agent = env.agent(`refusal-${cases.indexOf(asked)}`);
    await agent.start({ mode: 'conversation', model, ...(outputSchema && { outputSchema }) });
    const answer = text.startsWith('<think>') ? 'The model refused to answer.' : text;
    const refused = await agent.send('go');
    expect(refused).toMatchObject({ reason: 'answered', steps: 1, answer });
    expect(refused.output).toBeUndefined();
    expect(await agent.send('and now?')).toMatchObject({ reason: 'answered', answer: '{}' });
    expect(requests.at(-1)?.messages).toContainEqual({ role: 'assistant', text: answer });
    await agent.stop();
  },
);
