// Puts messages and stack traces of failures into a payload, which the codec then encrypts. Loaded by its path: by
// workers and clients, and into the workflow bundle, so nothing of Node may be imported here.
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
