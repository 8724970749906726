// The gateway's view of `[gateway.oidc]`: from the configuration of the data folder's worker, with the client's secret.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { OidcChoice, OidcSettings } from '../../contracts/gateway/oidc';
import { readPrivateFile } from '../../system/private-file';
import { configurationSource, readConfiguration } from './configuration';
import { clientSecretFiles, exposedNow, refuseExposed } from './exposed';
import { recordedConfig } from './recorded-choice';

/** `config` as returned by `configOf`. Null if no issuer is configured. Throws `config_invalid`. */
export function readOidc(
  dataDir: string,
  config: string | null | undefined,
  env: NodeJS.ProcessEnv,
): OidcSettings | null {
  const named = config === undefined ? recordedConfig(dataDir) : config;
  const configuration = readConfiguration(configurationSource({ dataDir, config: named ?? undefined }));
  const { oidc } = configuration.gateway;
  if (oidc === null) return null;
  refuseExposed(clientSecretFiles(configuration), exposedNow({ dataDir, config: named }));
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
