import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import type { EnvoyManifest } from "./envoy-provider.ts";

/** Access to models, from the SecurityPolicies of Envoy Gateway. */
export interface EnvoyAccess {
  /** Policies of the `llm` section. */
  readonly policies: DraftFields;
  readonly note: string;
}

/** Parts of a SecurityPolicy that decide who may call. */
const DECIDING = ["jwt", "apiKeyAuth", "basicAuth", "oidc", "extAuth", "authorization"] as const;

/**
 * Converts the SecurityPolicies of the files: the tokens of one issuer. Everybody is refused if they decide by anything else,
 * because the result would be open otherwise.
 */
export function envoyAccess(manifests: readonly EnvoyManifest[]): EnvoyAccess {
  const policies = manifests.filter(
    ({ kind, spec }) => kind === "SecurityPolicy" && DECIDING.some((part) => part in spec),
  );
  const [first] = policies;
  if (first === undefined)
    return {
      policies: {},
      note: "every client that reaches the port may use every model: require keys or tokens (apiKey, jwtAuth), as SecurityPolicies of Envoy Gateway did",
    };
  const jwtAuth = policies.length === 1 ? tokensOf(first) : undefined;
  if (jwtAuth !== undefined)
    return {
      policies: { jwtAuth },
      note: `SecurityPolicy ${first.name} applied to its targets; here its tokens are required for every model`,
    };
  const lines = policies.map(({ source, at }) => `line ${source.line(...at)}`).join(", ");
  return {
    policies: { authorization: { rules: [{ deny: "true" }] } },
    note: `${lines}: every caller is refused until you decide who may call, as SecurityPolicies did`,
  };
}

/** Returns `jwtAuth` for a policy that only requires tokens of one issuer; `undefined` for any other policy. */
function tokensOf({ spec, source, at }: EnvoyManifest): DraftFields | undefined {
  if (DECIDING.some((part) => part !== "jwt" && part in spec)) return undefined;
  const jwt = fieldsIn(spec.jwt);
  const [provider, second] = listIn(jwt.providers).map(fieldsIn);
  if (provider === undefined || second !== undefined || jwt.optional === true) return undefined;
  const { issuer, audiences, remoteJWKS, extractFrom } = provider;
  const [url, names] = [textIn(fieldsIn(remoteJWKS).uri), textsIn(audiences)];
  const name = textIn(issuer);
  if (name === undefined || url === undefined || names.length === 0 || extractFrom !== undefined)
    return undefined;
  const path = [...at, "spec", "jwt", "providers", 0];
  for (const field of ["issuer", "audiences"]) source.take(...path, field);
  source.take(...path, "remoteJWKS", "uri");
  return { issuer: name, audiences: names, jwks: { url } };
}
