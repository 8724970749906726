// Puts messages and stack traces of failures into a payload, which the codec then encrypts. Loaded by path: by workers
// and clients, and into the workflow bundle, so it must not import anything from Node.
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
