// Asks with the tools that the server takes, and says which are missing, to the model and to operators.
import type { WireApi } from '../../../contracts/models/model-names';
import type { WireCall, WireProtocol, WireReply } from '../wire-protocol';
import { redact } from '../redact';
import { fitTools } from './fitted-tools';
import { askWithout, type RefusedTools } from './refused-tools';

export interface AskedWithTools {
  ask: WireProtocol;
  wireApi: WireApi;
  refusedTools: RefusedTools;
}

export async function askWithTools(
  call: WireCall,
  { ask, wireApi, refusedTools }: AskedWithTools,
): Promise<WireReply> {
  const { tools, messages, system, access, onRemark } = call;
  if (!tools) return ask(call);
  return askWithout({
    tools,
    refused: refusedTools,
    redacted: (text) => redact(text, access.secrets),
    async ask(refused, offering) {
      const fitted = fitTools({ tools, messages, wireApi, refused });
      offering(fitted.tools);
      const { remark } = fitted;
      const reply = await ask({
        ...call,
        system: remark === '' ? system : [system, remark].filter(Boolean).join('\n\n'),
        tools: fitted.tools,
        messages: fitted.shown(messages),
      });
      if (remark !== '') onRemark?.(remark);
      return { ...reply, ...(reply.calls && { calls: fitted.taken(reply.calls) }) };
    },
  });
}
