// Ctrl-C stops watching, never the work.
import { sameServer, type GivenOptions } from '../print/next-step';
import { note } from '../terminal/terminal-style';

/** On the first Ctrl-C, says where to find the agent, and exits with 130. */
export function leaveOnInterrupt(link: string | null, given: GivenOptions): void {
  process.once('SIGINT', () => {
    const ps = `holdfast ps${sameServer(given)}`;
    note(`The agent keeps running: \`${ps}\` shows it${link ? `, as does ${link}` : ''}.`);
    process.exit(130);
  });
}
