// The whole log of a session, read piece by piece.
import { ApiProblem, pathOf, type ProblemText } from '../api/call-api';
import type { SessionPath } from './terminal-socket';

const PIECE_BYTES = 4 * 1024 * 1024;

export async function downloadLog({ agent, host, session }: SessionPath): Promise<void> {
  const pieces: Blob[] = [];
  const path = `${pathOf('sessions', agent, host, session)}/log`;
  for (let from = 0, end = 1; from < end;) {
    const answer = await fetch(`${path}?from=${from}&bytes=${PIECE_BYTES}`);
    if (!answer.ok) throw new ApiProblem(answer.status, (await answer.json()) as ProblemText);
    const to = Number(answer.headers.get('Holdfast-To'));
    end = Number(answer.headers.get('Holdfast-End'));
    pieces.push(await answer.blob());
    if (!(to > from)) break;
    from = to;
  }
  const url = URL.createObjectURL(new Blob(pieces));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: `${agent}-${host}-${session}.log` });
  link.click();
  URL.revokeObjectURL(url);
}
