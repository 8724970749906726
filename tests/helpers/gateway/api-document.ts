// What a gateway's own document says of its answers: each good one that a test gets is compared with it.
import Ajv2020 from 'ajv/dist/2020';

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>;
}

export class ApiDocument {
  /** The operations that were asked. */
  readonly asked = new Set<string>();
  private document: Promise<Json> | undefined;
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false });

  constructor(private readonly url: string) {}

  /** Throws if the document has another answer. `body`: as parsed, if it is JSON. */
  async check(
    method: string,
    path: string,
    answer: { status: number; isJson: boolean; body: unknown },
  ): Promise<void> {
    const operation = await this.operationOf(method, path.split('?')[0] ?? '');
    if (!operation) return;
    const { operationId, responses } = operation;
    this.asked.add(operationId);
    const response = responses[answer.status];
    if (!response) throw new Error(`${operationId}: its document has no status ${answer.status}`);
    if (!answer.isJson) return;
    const ref = response.content?.['application/json']?.schema.$ref;
    if (ref === undefined) throw new Error(`${operationId}: its document has no JSON for ${answer.status}`);
    const isValid = this.ajv.compile({ $ref: `document${ref}` });
    if (!isValid(answer.body)) throw new Error(`${operationId}: ${this.ajv.errorsText(isValid.errors)}`);
  }

  private async operationOf(method: string, path: string): Promise<Operation | undefined> {
    this.document ??= this.read();
    const paths = (await this.document).paths as Record<string, Record<string, Operation>>;
    const found = Object.entries(paths)
      .filter(([template]) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
      .sort(([a], [b]) => a.split('{').length - b.split('{').length)[0];
    return found?.[1][method.toLowerCase()];
  }

  /** Its schemas refer to each other. */
  private async read(): Promise<Json> {
    const document = (await (await fetch(`${this.url}/openapi.json`)).json()) as Json;
    this.ajv.addSchema({ $id: 'document', components: document.components });
    return document;
  }
}
