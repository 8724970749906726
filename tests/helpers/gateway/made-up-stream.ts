// Events of an agent that a page gets in place of the gateway's: what a stream brings just then is not left to chance.
import type { Page } from 'playwright-core';

export type ToldEvent = readonly [name: string, data: object];

/** Once. Further connections are left without an answer. */
export async function tellEvents(page: Page, id: string, events: ToldEvent[]): Promise<void> {
  const lines = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const answer = { contentType: 'text/event-stream', body: lines.join('') };
  let isTold = false;
  await page.route(`**/v1/agents/${id}/events*`, (route) => {
    if (isTold) return undefined;
    isTold = true;
    return route.fulfill(answer);
  });
}
