import type { PolicySettings } from "../../compiler/ir.ts";
import { openUpstream } from "../backends/connection.ts";
import { code, imported, literal, type Printable } from "../code.ts";
import { awaitedIdentitySteps } from "../identity.ts";
import type { PolicyTemplate } from "./policy.ts";

type Keys = PolicySettings["jwtAuth"]["providers"][number]["keys"];
type RemoteKeys = Extract<Keys, { kind: "remote" }>;

const MODULE = "gwc/runtime/policies/jwt-auth";

/** `jwtAuth`: verifies the bearer token; its claims are `jwt` from here on. */
export const jwtAuthTemplate: PolicyTemplate<"jwtAuth"> = ({ settings, origin }, { trace }) => ({
  declarations: [
    code`
      ${trace(origin)}
      const jwtAuth = ${imported(MODULE, "openJwt")}(${literal(jwtSettings(settings.providers))});
    `,
  ],
  ...awaitedIdentitySteps("jwt", settings.mode, CHECKS, code`jwtAuth`),
});

const CHECKS = {
  strict: imported(MODULE, "requireJwt"),
  optional: imported(MODULE, "acceptJwt"),
  permissive: imported(MODULE, "observeJwt"),
};

/** The settings of `openJwt`. */
export function jwtSettings(providers: PolicySettings["jwtAuth"]["providers"]): Printable {
  return {
    providers: providers.map(({ issuer, audiences, keys }) => ({
      issuer,
      audiences,
      keys:
        keys.kind === "inline"
          ? code`${imported("gwc/runtime/jwt/key-source", "inlineKeys")}(${literal(keys.keys as readonly Printable[])})`
          : code`${imported("gwc/runtime/jwt/remote-keys", "remoteKeys")}(${literal(remoteSettings(keys))})`,
    })),
  };
}

function remoteSettings({ url, cacheDuration, connection }: RemoteKeys): Printable {
  return { url, cacheDuration, server: connection && openUpstream(url, connection) };
}
