// The gateway's view of the configuration of the data folder's worker: `[gateway.oidc]`, with the client's secret,
// `[log]` and `[telemetry]`.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { OidcChoice, OidcSettings } from '../../contracts/gateway/oidc';
import { readPrivateFile } from '../../system/private-file';
import { workersConfiguration, type Configuration, type LogSettings } from './configuration';
import type { TelemetrySettings } from './configured-telemetry';
import { clientSecretFiles, exposedNow, refuseExposed } from './exposed';

export interface GatewayChoice {
  /** Null if no issuer is configured. */
  oidc: OidcSettings | null;
  log: LogSettings;
  telemetry: TelemetrySettings;
}

/** `config` as returned by `configOf`. Throws `config_invalid`. */
export function readGateway(
  dataDir: string,
  config: string | null | undefined,
  env: NodeJS.ProcessEnv,
): GatewayChoice {
  const configuration = workersConfiguration(dataDir, config);
  // The data folder's worker may run with another configuration, and so with another sandbox.
  for (const one of [config, undefined])
    refuseExposed(clientSecretFiles(configuration), exposedNow({ dataDir, config: one }));
  const { log, telemetry } = configuration;
  return { oidc: oidcOf(configuration, env), log, telemetry };
}

function oidcOf({ gateway: { oidc } }: Configuration, env: NodeJS.ProcessEnv): OidcSettings | null {
  if (oidc === null) return null;
  try {
    return { ...oidc, clientSecret: secretOf(oidc.clientSecret, env) };
  } catch (err) {
    throw new HoldfastError('config_invalid', { faults: `[gateway.oidc]: ${reasonOf(err)}.` });
  }
}

/** Throws if there is none, or if others may read its file. */
function secretOf(place: OidcChoice['clientSecret'], env: NodeJS.ProcessEnv): string | null {
  if (place === null) return null;
  const [secret, where] =
    'variable' in place
      ? [env[place.variable], `the variable ${place.variable}`]
      : [readPrivateFile(place.file), place.file];
  const trimmed = secret?.trim();
  if (trimmed) return trimmed;
  throw new Error(`the client's secret: ${where} is ${secret === undefined ? 'not set' : 'empty'}`);
}
