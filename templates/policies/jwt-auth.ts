import type { PolicySettings } from "../../compiler/ir.ts";
import { type Code, code, imported, literal, type Printable } from "../code.ts";
import type { PolicyCode, PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/jwt-auth";

/** `jwtAuth`: verifies the bearer token; its claims are `jwt` from here on. */
export const jwtAuthTemplate: PolicyTemplate<"jwtAuth"> = ({ settings, origin }, { trace }) => ({
  declarations: [
    code`
      ${trace(origin)}
      const jwtAuth = ${imported(MODULE, "openJwt")}(${literal(jwtSettings(settings.providers))});
    `,
  ],
  ...jwtSteps(
    settings.mode,
    { strict: imported(MODULE, "requireJwt"), optional: imported(MODULE, "acceptJwt") },
    code`jwtAuth`,
  ),
});

/** The steps of a token check: which function runs is decided by the mode. */
export function jwtSteps(
  mode: PolicySettings["jwtAuth"]["mode"],
  checks: {
    readonly strict: ReturnType<typeof imported>;
    readonly optional: ReturnType<typeof imported>;
  },
  verifier: Code,
): Pick<PolicyCode, "steps" | "isAsync" | "defines"> {
  const steps =
    mode === "permissive"
      ? [code`const jwt = await ${imported(MODULE, "observeJwt")}(exchange, ${verifier});`]
      : [
          code`const jwt = await ${checks[mode]}(exchange, ${verifier});`,
          code`if (jwt === undefined) return;`,
        ];
  return { steps, isAsync: true, defines: "jwt" };
}

/** The settings of `openJwt`. */
export function jwtSettings(providers: PolicySettings["jwtAuth"]["providers"]): Printable {
  return {
    providers: providers.map(({ issuer, audiences, keys }) => ({
      issuer,
      audiences,
      keys:
        keys.kind === "inline"
          ? code`${imported("gwc/runtime/jwt/key-source", "inlineKeys")}(${literal(keys.keys as readonly Printable[])})`
          : code`${imported("gwc/runtime/jwt/remote-keys", "remoteKeys")}(${literal({ url: keys.url, cacheDuration: keys.cacheDuration })})`,
    })),
  };
}
