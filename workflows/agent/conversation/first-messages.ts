// What a conversation starts with: another one's messages, files of the host, and sessions opened ahead.
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { Message } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { toFailure } from '../../../contracts/errors/failure';
import { LOCAL_HOST } from '../../../contracts/ids';
import { label } from '../../../contracts/text/labels';
import { keepCopied } from './copied-checkpoints';
import { openSessions, readTranscript } from './between-turns';
import { hostFailure } from '../../host/host-activities';
import { toolsOn } from '../../turn/calls/tool-activities';
import { counted } from '../../../contracts/text/counted';

/** Opens the requested sessions ahead, in the background. */
export async function firstMessages(agent: string, input: AgentInput): Promise<Message[]> {
  const { from, context, host, cwd } = input;
  void openAhead(agent, input);
  const copied = from ? await copyOf(from) : [];
  void keepCopied(agent, input, copied);
  if (!context || copied.some(({ role }) => role === 'context')) return copied;
  const text = await contextOf(context, host ?? LOCAL_HOST, { agent, cwd });
  return text === null ? copied : [...copied, { role: 'context', text }];
}

/** If a session cannot be opened, its first command says why. */
async function openAhead(
  agent: string,
  { openSessions: sessions = [], host = LOCAL_HOST, cwd }: AgentInput,
): Promise<void> {
  if (sessions.length === 0) return;
  const summary = label(`open session ${sessions.join(', ')}`);
  try {
    await openSessions.executeWithOptions({ summary }, [{ agent, host, cwd: cwd ?? null, sessions }]);
  } catch {
    // Cancelled with the agent, or the host is offline.
  }
}

async function copyOf({ agent, runId, count }: NonNullable<AgentInput['from']>): Promise<Message[]> {
  const messages: Message[] = [];
  const summary = label(`copy ${counted(count, 'message')} of ${agent}`);
  while (messages.length < count) {
    const wanted = { agent, runId, from: messages.length, to: count };
    const page = await readTranscript.executeWithOptions({ summary }, [wanted]);
    if (page.messages.length === 0) {
      const facts = { what: `Messages of ${agent}`, got: count, allowed: page.total };
      throw toFailure(new HoldfastError('invalid_input', facts));
    }
    messages.push(...page.messages);
  }
  return messages;
}

async function contextOf(
  paths: string[],
  host: string,
  of: { agent: string; cwd: string | undefined },
): Promise<string | null> {
  try {
    const summary = label(`read ${paths.join(', ')}`);
    return await toolsOn(host).readContext.executeWithOptions({ summary }, [{ ...of, paths }]);
  } catch (err) {
    throw hostFailure(err, host);
  }
}
