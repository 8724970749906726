// The files of docs/schemas: what each is about, and the schema that it is made of.
import * as agent from '../../contracts/schemas/agent';
import * as answers from '../../contracts/schemas/answers';
import * as approvals from '../../contracts/schemas/approvals';
import * as session from '../../contracts/schemas/session';
import { z } from '../../contracts/schemas/zod';

interface Described {
  title: string;
  schema: z.core.$ZodType;
}

const of = (title: string, schema: z.core.$ZodType): Described => ({ title, schema });

/** By file name without `.json`: `WORKFLOW.MESSAGE`, and `.answer` for what comes back. */
export const SCHEMAS: Readonly<Record<string, Described>> = {
  error: of('An error, with --json and from the client', answers.errorAnswer),
  'agent.start': of('Input of the workflow agent', agent.agentInputSchema),
  'agent.result': of('Result of the workflow agent, and answer of the update send', answers.agentResult),
  'agent.send': of('Signal or update send', agent.sendSchema),
  'agent.interrupt': of('Signal or update interrupt', agent.interruptSchema),
  'agent.recover': of('Signal or update recover', agent.recoverSchema),
  'agent.stop': of('Signal stop', agent.stopSchema),
  'agent.spawn': of('Update spawn', agent.spawnSchema),
  'agent.spawn.answer': of('Answer of the update spawn', answers.spawned),
  'agent.waitForAgents': of('Update waitForAgents', agent.agentsWaitSchema),
  'agent.waitForAgents.answer': of('Answer of the update waitForAgents', answers.agentsWaitResult),
  'agent.approve': of('Signal or update approve to an agent', approvals.agentApproveSchema),
  'agent.deny': of('Signal or update deny to an agent', approvals.agentDenySchema),
  'agent.state.answer': of(
    'Answer of the query state of an agent, and of the updates interrupt and recover',
    answers.agentState,
  ),
  'agent.transcript': of('Query transcript of an agent or a turn', answers.transcriptRequest),
  'agent.transcript.answer': of('Answer of the query transcript', answers.transcriptPage),
  'turn.result': of('Result of the workflow turn', answers.turnResult),
  'turn.state.answer': of('Answer of the query state of a turn', answers.turnState),
  'execSession.start': of('Input of the workflow execSession', session.sessionInputSchema),
  'execSession.exec': of('Update exec', session.execSchema),
  'execSession.input': of('Signal or update input', session.inputSchema),
  'execSession.output': of('Update output', session.outputSchema),
  'execSession.output.answer': of('Answer of the query output', answers.lastView),
  'execSession.view.answer': of(
    'Answer of the updates open, exec, input, output and reset',
    answers.commandView,
  ),
  'execSession.wait': of('Update wait', session.waitRequestSchema),
  'execSession.wait.answer': of('Answer of the update wait', answers.waitResult),
  'execSession.reset': of('Signal or update reset, and signal close', session.resetSchema),
  'execSession.state.answer': of('Answer of the query state of a session', answers.sessionState),
  'approvals.approve': of('Signal or update approve to a session or a turn', approvals.approveSchema),
  'approvals.deny': of('Signal or update deny to a session or a turn', approvals.denySchema),
  'approvals.approvals': of('Query approvals of a session or a turn', answers.approvalsRequest),
  'approvals.approvals.answer': of('Answer of the query approvals', answers.approvalList),
  'approvals.answer': of('Answer of the updates approve and deny', answers.approval),
  'host.state.answer': of('Answer of the query state of a host', answers.hostState),
};

/**
 * JSON Schema 2020-12. Answers allow further keys: a later release may add some. What only code can check, such as the
 * size of a text, is left out.
 */
export function jsonSchemaOf({ title, schema }: Described, allowsMore = true): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    // Only the shape of what is sent allows unknown keys where its schema does.
    io: allowsMore ? 'input' : 'output',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === session.waitSchema)
        Object.assign(jsonSchema, { type: 'string', pattern: '^(exit|output|idle|needs_input|pattern:.+)$' });
    },
  });
  return { $schema, title, ...rest };
}
