// Decodes what histories hold, through the client's codec. What cannot be read is undefined: a time line says less then,
// but it is there.
import type { Client } from '@temporalio/client';
import type { SerializationContext } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow';
import { openEnvelope } from '../../contracts/seals';

type Payloads = Parameters<typeof decodeArrayFromPayloads>[1];
type Failure = Parameters<typeof decodeOptionalFailureToOptionalError>[1];

/** The workflow that a payload was made for. */
export interface PayloadOwner {
  client: Client;
  workflowId: string;
}

const contextOf = ({ client, workflowId }: PayloadOwner): SerializationContext => ({
  type: 'workflow',
  namespace: client.options.namespace,
  workflowId,
});

/** The first of them, out of its envelope if it was sealed. */
export async function firstOf<T>(owner: PayloadOwner, payloads: Payloads): Promise<Partial<T> | undefined> {
  const { loadedDataConverter } = owner.client.options;
  const values = await decodeArrayFromPayloads(loadedDataConverter, payloads, contextOf(owner)).catch(
    () => [],
  );
  const [first] = openEnvelope(values).args;
  return typeof first === 'object' && first !== null ? first : undefined;
}

export async function failureOf(owner: PayloadOwner, failure: Failure): Promise<Error | undefined> {
  const { loadedDataConverter } = owner.client.options;
  return decodeOptionalFailureToOptionalError(loadedDataConverter, failure, contextOf(owner)).catch(
    () => undefined,
  );
}
