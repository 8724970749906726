// The images of a call's result. Each is loaded when it comes into view.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { ImageRef } from '../../../contracts/tools/images';
import { ShownAgent } from '../../api/agent-stream';
import { pathOf } from '../../api/call-api';
import { bytes } from '../notes';

export function Images({ images, of }: { images: readonly ImageRef[]; of: string }): VNode {
  const agent = useContext(ShownAgent);
  return (
    <div class="images">
      {images.map((image, index) => (
        <Shown key={index} image={image} path={pathOf('agents', agent, 'images', image.sha256)} of={of} />
      ))}
    </div>
  );
}

function Shown({ image, path, of }: { image: ImageRef; path: string; of: string }): VNode {
  const isMissing = useSignal(false);
  const { mime, width, height } = image;
  const words = `${mime.replace('image/', '')}, ${width}×${height}, ${bytes(image.bytes)}`;
  if (isMissing.value) return <p class="quiet">An image that cannot be shown: {words}</p>;
  return (
    <a href={path} target="_blank" rel="noreferrer" title={words}>
      <img
        src={path}
        alt={`Image from ${of}: ${words}`}
        loading="lazy"
        width={width}
        height={height}
        onError={() => (isMissing.value = true)}
      />
    </a>
  );
}
