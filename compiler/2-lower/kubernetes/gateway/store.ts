import type { KeysApiConfig } from "../../../config/keys-api.ts";
import type { UsageConfig } from "../../../config/usage.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { RedisResource } from "../../../ir/store.ts";
import { KEYS_API_PORT } from "../../../manifests/keys-api.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import { lowerJwks } from "../../../policies/jwt-auth/jwks.ts";
import { keysApiTokens, readKeysApi } from "../../standalone/keys-api.ts";
import { readStore, redisNode } from "../../standalone/store.ts";
import { readUsage } from "../../standalone/usage.ts";
import { secretFiles } from "../inventory/secrets.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

/** Entry of a Secret with the URL of Redis. */
const URL_ENTRY = "url";

/** Returns the store of a Gateway: from its own parameters, then its class's, whose raw configuration has it as well. */
export function gatewayStore(
  manifest: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  context: PolicyContext,
): RedisResource | undefined {
  return lastOf(parameters, ({ store, rawConfig, origin }) => {
    if (store === undefined) {
      const at = childOf(origin, "spec", "rawConfig", "config", "store");
      return readStore(rawConfig?.config?.store, at);
    }
    const at = childOf(origin, "spec", "store", "redis");
    const [file = ""] = secretFiles(
      {
        name: store.redis.secretRef.name,
        ...{ keys: [URL_ENTRY], content: "word", from: manifest, gateway: manifest },
        origin: childOf(at, "secretRef"),
      },
      context,
    );
    return redisNode(store.redis, { kind: "secret", file }, at);
  });
}

/** Returns the stored usage of models: from a Gateway's own parameters, then its class's, whose raw configuration has it as well. */
export function gatewayUsage(parameters: readonly ParametersSpec[]): UsageConfig | undefined {
  return lastOf(parameters, ({ usage, rawConfig, origin }) => {
    const spec = childOf(origin, "spec");
    return (
      readUsage(usage, childOf(spec, "usage")) ??
      readUsage(rawConfig?.config?.usage, childOf(spec, "rawConfig", "config", "usage"))
    );
  });
}

/** Returns the HTTP API for keys: from a Gateway's own parameters, then its class's, whose raw configuration has it as well. */
export function gatewayKeysApi(
  manifest: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  context: PolicyContext,
): KeysApiConfig | undefined {
  return lastOf(parameters, ({ keysApi, rawConfig, origin }) => {
    const spec = childOf(origin, "spec");
    if (keysApi === undefined) {
      const at = childOf(spec, "rawConfig", "config", "keysApi");
      return readKeysApi(rawConfig?.config?.keysApi, at);
    }
    const at = childOf(spec, "keysApi");
    const { port = KEYS_API_PORT, address = "127.0.0.1", keyRef, jwt } = keysApi;
    const [file] =
      keyRef === undefined
        ? []
        : secretFiles(
            {
              name: keyRef.name,
              ...{
                keys: [keyRef.key ?? "key"],
                content: "word",
                from: manifest,
                gateway: manifest,
              },
              origin: childOf(at, "keyRef"),
            },
            context,
          );
    return {
      ...{ port, address, origin: at },
      key: file === undefined ? undefined : { kind: "secret", file },
      jwt: jwt && keysApiTokens(jwt, lowerJwks(jwt.jwks, childOf(at, "jwt", "jwks")), at),
    };
  });
}
