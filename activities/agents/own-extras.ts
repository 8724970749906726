// What a provider sent with its replies goes back to that provider only: another would refuse it, or could read it.
import type { VisibleMessage } from '../../contracts/agents/agent';
import { providerOf } from '../../contracts/models/reply-extras';

export function withOwnExtras(messages: readonly VisibleMessage[], model: string): VisibleMessage[] {
  const provider = providerOf(model);
  return messages.map((message) => {
    if (message.role !== 'assistant' || !message.extras || message.extras.provider === provider)
      return message;
    return { ...message, extras: undefined };
  });
}
