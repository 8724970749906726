// Ctrl-C stops watching, never the work.
import { sameServer, type GivenOptions } from '../print/next-step';
import { noteUnless } from '../terminal/terminal-style';

/** On the first Ctrl-C, says where to find the agent (to a program nothing), and exits with 130. */
export function leaveOnInterrupt(link: string | null, given: GivenOptions & { json?: boolean }): void {
  process.once('SIGINT', () => {
    const ps = `holdfast ps${sameServer(given)}`;
    noteUnless(given.json)(`The agent keeps running: \`${ps}\` shows it${link ? `, as does ${link}` : ''}.`);
    process.exit(130);
  });
}
