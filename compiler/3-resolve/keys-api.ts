import { resolveExpression } from "../backends/parts/expressions.ts";
import type { KeysApiConfig, KeysApiTokens } from "../config/keys-api.ts";
import { keyPlace } from "../diagnostics/diagnostic.ts";
import type { KeysApiNode } from "../ir/keys-api.ts";
import type { BindNode } from "../ir/program.ts";
import type { TcpBindNode } from "../ir/tcp.ts";
import { publicKeys } from "../policies/jwt-auth/jwks.ts";
import type { ResolveContext } from "../policies/policy.ts";
import { storeUser } from "./store.ts";

/** Ports of the gateway that the API must not share. */
interface ServedPorts {
  readonly binds: readonly BindNode[];
  readonly tcp: readonly TcpBindNode[];
}

type KeysApiContext = Pick<ResolveContext, "host" | "diagnostics" | "resolvePath">;

/** Checks the HTTP API for keys: its port serves nothing else, and some route accepts the keys. */
export function resolveKeysApi(
  { jwt: tokens, ...api }: KeysApiConfig,
  { binds, tcp }: ServedPorts,
  context: KeysApiContext,
): KeysApiNode | undefined {
  const { diagnostics } = context;
  const { port, origin } = api;
  const jwt = tokens && resolveTokens(tokens, context);
  if (storeUser(binds) === undefined) {
    diagnostics.report("idle-keys-api", keyPlace(origin), {});
    return undefined;
  }
  if ([...binds, ...tcp].some((bind) => bind.port === port)) {
    diagnostics.report("keys-api-port", keyPlace(origin), { port });
    return undefined;
  }
  return tokens !== undefined && jwt === undefined ? undefined : { ...api, jwt };
}

/** Resolves the tokens; returns `undefined` if a mistake was reported. */
function resolveTokens(
  { issuer, audiences, jwks, rule }: KeysApiTokens,
  context: KeysApiContext,
): KeysApiNode["jwt"] {
  const keys = resolveKeys(jwks, context);
  const compiled = resolveExpression(
    rule,
    { phase: "request", slot: "allow" },
    context.diagnostics,
  );
  if (compiled === undefined || keys === undefined) return undefined;
  const other = compiled.variables.find((variable) => !KNOWN.has(variable));
  const readsBody = compiled.reads.some(
    ([root, member]) => root === "request" && member === "body",
  );
  if (other !== undefined || readsBody) {
    const params = { variable: other ?? "request.body" };
    context.diagnostics.report("keys-api-rule", rule.origin, params);
    return undefined;
  }
  const requiredClaims = ["exp", "sub"];
  return { provider: { issuer, audiences, requiredClaims, keys }, rule: compiled };
}

/** Variables that are known when a request to the API is decided on. */
const KNOWN: ReadonlySet<string> = new Set(["jwt", "request"]);

function resolveKeys(jwks: KeysApiTokens["jwks"], context: KeysApiContext) {
  if (jwks.kind === "url") {
    const { url, cacheDuration } = jwks;
    return { kind: "remote", url, cacheDuration } as const;
  }
  const keys = publicKeys(jwks, context);
  return keys && ({ kind: "inline", keys } as const);
}
