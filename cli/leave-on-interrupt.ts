// Ctrl-C ends the watching, never the work.
import { note } from './terminal-style';

/** On the first Ctrl-C says where the agent is to be found, and exits with 130. */
export function leaveOnInterrupt(link: string | null): void {
  process.once('SIGINT', () => {
    note(`The agent goes on: \`holdfast ps\` shows it${link ? `, as does ${link}` : ''}.`);
    process.exit(130);
  });
}
