import type { JsonObject, JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { resourceMetadataUrl } from "./well-known.ts";

/** The scopes that rules require of tokens. */
export interface StepUpSettings {
  /** The claims that the rules read: `scope`, `scopes` or `scp`. */
  readonly claims: readonly string[];
  readonly scopes: readonly string[];
}

/** What the rules say of somebody with these claims. */
type Rules = (claims: JsonObject) => { readonly isAllowed: boolean };

/**
 * The `WWW-Authenticate` value of a 403 by which a client asks for a token with more scopes (RFC 6750 3.1, MCP's step-up
 * authorization); undefined: no scope would change what the rules say, or nobody has shown a token.
 */
export type StepUp = (exchange: Exchange, jwt: JwtVariable, rules: Rules) => string | undefined;

/** Finds out which of the scopes that rules name a token lacks. */
export function openStepUp(settings: StepUpSettings): StepUp {
  return (exchange, jwt, rules) => {
    if (jwt === null) return undefined;
    const missing = missingScopes(settings, jwt, rules);
    if (missing === undefined) return undefined;
    // Clients ask for what they are told and nothing else: what a token has, the next one has to have, too.
    const held = settings.claims
      .flatMap((claim) => scopesIn(own(jwt, claim)))
      .filter(isRequestable);
    const scope = [...new Set([...held, ...missing])].join(" ");
    const where = `resource_metadata="${resourceMetadataUrl(exchange)}"`;
    return `Bearer error="insufficient_scope", scope="${scope}", ${where}`;
  };
}

/** The fewest scopes with which the rules allow what they refuse: the first of those that would do. */
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

/** Claims with more scopes. Whether a claim that is not there is a text or a list, no token says: `form`. */
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

/** RFC 8693 4.2: a text with spaces; with some identity providers a list. */
function scopesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(" ").filter((scope) => scope !== "");
  return Array.isArray(value) ? value.filter((scope) => typeof scope === "string") : [];
}

/** RFC 6749 3.3. A client asks for `offline_access` by itself, as its tokens are its business. */
function isRequestable(scope: string): boolean {
  return scope !== "offline_access" && /^[!#-[\]-~]+$/.test(scope);
}

function own(jwt: JsonObject, claim: string): unknown {
  return Object.hasOwn(jwt, claim) ? jwt[claim] : undefined;
}
