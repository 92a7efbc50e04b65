import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { upstreamCode } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import { locationCode } from "./parts/credential-location.ts";
import { awaitedIdentitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

type Keys = PolicySettings["jwtAuth"]["providers"][number]["keys"];
type RemoteKeys = Extract<Keys, { kind: "remote" }>;

const MODULE = "gwc/runtime/policies/jwt-auth";

/** `jwtAuth`: verifies the bearer token; its claims are `jwt` from here on. */
export const jwtAuthTemplate: PolicyTemplate<"jwtAuth"> = {
  identity: "jwt",
  detail: ({ mode }) => mode,
  code: ({ settings, origin }, scope) => {
    const location = locationCode(settings.location, "findToken", scope);
    const value = { location: location.value, providers: jwtProviders(settings.providers) };
    return {
      declarations: [
        ...location.declarations,
        code`
          ${scope.trace(origin)}
          const jwtAuth = ${imported(MODULE, "openJwt")}(${literal(value)});
        `,
      ],
      ...awaitedIdentitySteps("jwt", settings.mode, CHECKS, code`jwtAuth`),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireJwt"),
  optional: imported(MODULE, "acceptJwt"),
  permissive: imported(MODULE, "observeJwt"),
};

/** Writes the issuers of `openJwt`. */
export function jwtProviders(providers: PolicySettings["jwtAuth"]["providers"]): Printable {
  return providers.map(({ issuer, audiences, requiredClaims, keys }) => ({
    issuer,
    audiences,
    requiredClaims,
    keys: keySource(keys),
  }));
}

/** Writes the source of an issuer's keys. */
export function keySource(keys: Keys): Code {
  return keys.kind === "inline"
    ? code`${imported("gwc/runtime/auth/jwt/key-source", "inlineKeys")}(${literal(keys.keys as readonly Printable[])})`
    : code`${imported("gwc/runtime/auth/jwt/remote-keys", "remoteKeys")}(${literal(remoteSettings(keys))})`;
}

function remoteSettings({ url, cacheDuration, connection }: RemoteKeys): Printable {
  return {
    url,
    cacheDuration: milliseconds(cacheDuration),
    server: connection && upstreamCode(url, connection),
  };
}
