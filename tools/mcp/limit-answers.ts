// Servers ask, too, such as pings. Each answer over HTTP takes a connection, and over standard input memory, until the
// server takes it.
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Enough for a server that pings each second and answers nothing for half a minute. */
const MAX_ANSWERS = 32;

/** Calls `onFlood` once, if more answers are on their way than a server needs; from then on none is sent. */
export function limitAnswers(transport: Transport, onFlood: () => void): void {
  const send = transport.send.bind(transport);
  let underWay = 0;
  let isFlooded = false;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (isFlooded) return;
    if (underWay === MAX_ANSWERS) {
      isFlooded = true;
      return onFlood();
    }
    underWay += 1;
    try {
      await send(message, options);
    } finally {
      underWay -= 1;
    }
  };
}
