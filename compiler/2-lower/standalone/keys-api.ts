import type { KeysApiValue } from "../../1-parse/standalone/keys-api.ts";
import type { KeysApiConfig } from "../../config/keys-api.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { KEYS_API_PORT } from "../../manifests/keys-api.ts";
import { lowerJwks } from "../../policies/jwt-auth/jwks.ts";

/** Reads `keysApi`; `origin` is its place. Returns `undefined` if there is none. */
export function readKeysApi(
  value: KeysApiValue | undefined,
  origin: Origin,
): KeysApiConfig | undefined {
  if (value === undefined) return undefined;
  const { port = KEYS_API_PORT, address = "127.0.0.1", key, jwt } = value;
  return {
    ...{ port, address, origin },
    key: key && { kind: "path", file: key.file, origin: childOf(origin, "key", "file") },
    jwt: jwt && keysApiTokens(jwt, lowerJwks(jwt.jwks, childOf(origin, "jwt", "jwks")), origin),
  };
}

/** Reads the tokens of `keysApi`, whose place is `origin`. */
export function keysApiTokens(
  { issuer, audiences, rule }: NonNullable<KeysApiValue["jwt"]>,
  jwks: NonNullable<KeysApiConfig["jwt"]>["jwks"],
  origin: Origin,
): NonNullable<KeysApiConfig["jwt"]> {
  const at = childOf(origin, "jwt");
  return { issuer, audiences, jwks, rule: { text: rule, origin: childOf(at, "rule") }, origin: at };
}
