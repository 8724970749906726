// The code blocks of a page of docs/, each with the output that the page says it has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DocBlock {
  /** Of the nearest heading above. */
  title: string;
  language: string;
  code: string;
  /** The file named by the code's first comment, if any. */
  file: string | undefined;
  /** The block of text right below. */
  output: string | undefined;
}

const DOCS = join(__dirname, '..', '..', '..', 'docs');
const BLOCK =
  /^#{2,3} (?<title>[^\n]+)$|^```(?<language>\w+)\n(?<code>.*?)^```\n(?:\n```text\n(?<output>.*?)^```\n)?/gms;

/** The page's text, with unchanged line ends. */
export const readDoc = (page: string): string => readFileSync(join(DOCS, page), 'utf8');

export function docBlocks(page: string): DocBlock[] {
  let title = '';
  return [...readDoc(page).matchAll(BLOCK)].flatMap(({ groups = {} }) => {
    const { language, code = '', output } = groups;
    title = groups.title ?? title;
    if (language === undefined) return [];
    return [{ title, language, code, file: /^\/\/ (\S+\.\w+)\n/.exec(code)?.[1], output }];
  });
}

/** Cells of the table whose first heading is `first`, without the heading. */
export function docTable(page: string, first: string): string[][] {
  const rows = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines = readDoc(page).split('\n');
  const from = lines.findIndex((line) => line.startsWith('|') && rows(line)[0] === first);
  if (from < 0) throw new Error(`${page} has no table of ${first}`);
  const end = lines.findIndex((line, index) => index > from && !line.startsWith('|'));
  return lines.slice(from + 2, end).map(rows);
}
