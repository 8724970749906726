// Shape of `[telemetry]` in `holdfast.toml`: where metrics and traces go. Nothing is exported by default.
import { z } from '../zod';

const text = z.string().check(z.minLength(1));
/** As the exporter takes it: an IP address, not a name. */
const place = z.string().check(
  z.regex(/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d{1,5}$/i, {
    error: 'must be ADDRESS:PORT with an IP address, for example 127.0.0.1:9464',
  }),
);

export const telemetrySchema = z.strictObject({
  prometheus: z.optional(place),
  prometheus_gateway: z.optional(place),
  otlp: z.optional(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })),
  env_otlp_headers: z._default(z.record(text, text), {}),
  traces: z._default(z.boolean(), true),
  content: z._default(z.boolean(), false),
  look_every_sec: z._default(z.number().check(z.positive(), z.maximum(3_600)), 30),
});

export type TelemetryEntry = z.infer<typeof telemetrySchema>;
