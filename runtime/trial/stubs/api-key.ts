import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../cel/variables.ts";
import * as real from "../../policies/api-key.ts";
import { readCredential } from "../trial-credential.ts";

export {
  acceptApiKey,
  consumeKey,
  observeApiKey,
  plaintextKey,
  refuseApiKey,
  requireApiKey,
  sha256Key,
} from "../../policies/api-key.ts";

type KnownKey = NonNullable<ReturnType<real.ApiKeys["find"]>>;

/** Replaces policies/api-key.ts: a key in a file never matches. */
export function keyFile(
  path: string,
  metadata: JsonObject,
  models?: readonly string[],
): real.ApiKeySource {
  return real.sha256Key(`file ${path}`, metadata, models);
}

/** Replaces policies/api-key.ts: a key in a Secret never matches. */
export function keyFolder(path: string): real.ApiKeySource {
  return keyFile(path, {});
}

/** Opens the keys of a route. A trial's key is the configured one with its metadata, or else a new one. */
export function openApiKeys(settings: real.ApiKeySettings): real.ApiKeys {
  const keys = real.openApiKeys(settings);
  return {
    location: keys.location,
    find: (text) => {
      const metadata = readCredential(text);
      return metadata === undefined ? keys.find(text) : keyWith(metadata, settings.keys);
    },
  };
}

function keyWith(metadata: JsonObject, keys: readonly real.ApiKeySource[]): KnownKey {
  const known = keys.flatMap((key) => ("digest" in key ? [key] : []));
  const same = known.find((key) => isDeepStrictEqual({ ...key.metadata }, { ...metadata }));
  return same ?? { digest: "trial", metadata, models: undefined };
}
