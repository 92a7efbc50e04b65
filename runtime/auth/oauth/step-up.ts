import type { JsonObject, JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { resourceMetadataUrl } from "./well-known.ts";

/** Scopes that rules require of tokens. */
export interface StepUpSettings {
  /** Claims that the rules read: `scope`, `scopes` or `scp`. */
  readonly claims: readonly string[];
  readonly scopes: readonly string[];
}

/** Evaluates the rules for claims. */
type Rules = (claims: JsonObject) => { readonly isAllowed: boolean };

/**
 * Returns the `WWW-Authenticate` value of a 403 that tells a client to request more scopes (RFC 6750 3.1, MCP's step-up
 * authorization); `undefined` if no scope would satisfy the rules, or the request has no token.
 */
export type StepUp = (exchange: Exchange, jwt: JwtVariable, rules: Rules) => string | undefined;

/** Determines which required scopes a token lacks. */
export function openStepUp(settings: StepUpSettings): StepUp {
  return (exchange, jwt, rules) => {
    if (jwt === null) return undefined;
    const missing = missingScopes(settings, jwt, rules);
    if (missing === undefined) return undefined;
    // Clients request only the listed scopes, so the new token needs the current ones, too.
    const held = settings.claims
      .flatMap((claim) => scopesIn(own(jwt, claim)))
      .filter(isRequestable);
    const scope = [...new Set([...held, ...missing])].join(" ");
    const where = `resource_metadata="${resourceMetadataUrl(exchange)}"`;
    return `Bearer error="insufficient_scope", scope="${scope}", ${where}`;
  };
}

/** Returns a minimal set of scopes that satisfies the rules. */
function missingScopes(
  { claims, scopes }: StepUpSettings,
  jwt: JsonObject,
  rules: Rules,
): readonly string[] | undefined {
  for (const form of ["text", "list"] as const) {
    const isEnough = (some: readonly string[]) =>
      rules(withScopes(jwt, claims, some, form)).isAllowed;
    if (!isEnough(scopes)) continue;
    return scopes.reduceRight<readonly string[]>((needed, scope) => {
      const fewer = needed.filter((each) => each !== scope);
      return isEnough(fewer) ? fewer : needed;
    }, scopes);
  }
  return undefined;
}

/** Adds scopes to claims. `form`: type of a claim that the token does not have. */
function withScopes(
  jwt: JsonObject,
  claims: readonly string[],
  scopes: readonly string[],
  form: "text" | "list",
): JsonObject {
  const changed = claims.map((claim) => {
    const value = own(jwt, claim);
    const all = [...scopesIn(value), ...scopes];
    const isList = value === undefined ? form === "list" : Array.isArray(value);
    return [claim, isList ? all : all.join(" ")] as const;
  });
  return { ...jwt, ...Object.fromEntries(changed) };
}

/** A string separated by spaces (RFC 8693 4.2), or a list with some identity providers. */
function scopesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(" ").filter((scope) => scope !== "");
  return Array.isArray(value) ? value.filter((scope) => typeof scope === "string") : [];
}

/** RFC 6749 3.3. Clients request `offline_access` themselves, because refresh tokens are their decision. */
function isRequestable(scope: string): boolean {
  return scope !== "offline_access" && /^[!#-[\]-~]+$/.test(scope);
}

function own(jwt: JsonObject, claim: string): unknown {
  return Object.hasOwn(jwt, claim) ? jwt[claim] : undefined;
}
