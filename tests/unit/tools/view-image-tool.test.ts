import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageFacts } from '../../../contracts/tools/image-header';
import { MAX_IMAGE_BYTES, type ImageFacts } from '../../../contracts/tools/images';
import { GIF, JPEG, png, WEBP } from '../../helpers/tools/images';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';

let view: ToolOnHost;
let shown: Buffer[];
beforeEach(() => {
  view = toolOnHost('view_image');
  shown = [];
});
afterEach(() => view.remove());
const write = (name: string, content: Buffer | string): void =>
  writeFileSync(join(view.directory, name), content);
const addImage = (data: Uint8Array): ImageFacts => {
  shown.push(Buffer.from(data));
  return imageFacts(data);
};

test.each([
  ['shot.png', png(640, 480), 'png, 640x480'],
  ['photo', JPEG, 'jpeg, 1x1'],
  ['icon.txt', GIF, 'gif, 1x1'],
  ['small.webp', WEBP, 'webp, 1x1'],
])('a model is shown the bytes of %s, and reads its name, kind and size', async (name, data, words) => {
  write(name, data);
  const { content, isError } = await view.result({ path: name }, { addImage });
  expect(isError).toBe(false);
  expect(content.startsWith(`The image ${name}: ${words}, `)).toBe(true);
  expect(shown.map((image) => image.equals(data))).toEqual([true]);
});

test('a script gets facts', async () => {
  const data = png(3, 4);
  write('shot.png', data);
  const facts = { mime: 'image/png', bytes: data.length, width: 3, height: 4 };
  expect(await view.value({ path: 'shot.png' })).toEqual({ path: 'shot.png', ...facts });
});

test('what cannot be shown is refused without waiting, with what to do', async () => {
  write('huge.png', Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]));
  write('page.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  mkdirSync(join(view.directory, 'folder'));
  execFileSync('mkfifo', [join(view.directory, 'pipe')]);
  for (const [path, reason] of [
    ['huge.png', `got huge.png, ${MAX_IMAGE_BYTES + 1} bytes or more`],
    ['page.svg', 'got page.svg, which is none of these'],
    ['folder', 'a folder'],
    ['pipe', 'a named pipe'],
    ['missing.png', 'missing.png'],
  ] as const) {
    const { content, isError } = await view.result({ path }, { addImage });
    expect([path, isError]).toEqual([path, true]);
    expect(content).toContain(reason);
  }
  expect(shown).toEqual([]);
});
