// Ctrl-C stops watching, never the work.
import { note } from '../terminal/terminal-style';

/** On the first Ctrl-C, says where to find the agent, and exits with 130. */
export function leaveOnInterrupt(link: string | null): void {
  process.once('SIGINT', () => {
    note(`The agent keeps running: \`holdfast ps\` shows it${link ? `, as does ${link}` : ''}.`);
    process.exit(130);
  });
}
