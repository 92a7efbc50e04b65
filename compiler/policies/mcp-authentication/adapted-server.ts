import { ownValue } from "../../backends/parts/sent-credentials.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { SentCredentialConfig } from "../../model/sent-credentials.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import { issuerJwks, type JwksConfig } from "../jwt-auth/jwks.ts";
import type { ResolveContext } from "../policy.ts";
import {
  entraAuthority,
  type IdentityProvider,
  identityProviders,
  urlOf,
} from "./identity-providers.ts";

/** An authorization server and its known client, as configured. */
export interface AuthorizationServerConfig {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly provider: IdentityProvider | undefined;
  readonly clientId: Text | undefined;
  readonly clientSecret: Pick<SentCredentialConfig, "value" | "valueOrigin"> | undefined;
}

/** Adaptation of an authorization server for MCP clients. */
export interface AdaptedServerNode {
  /** API that clients must name at the authorization endpoint; `undefined` if they need not. */
  readonly audience: string | undefined;
  /** Registration of clients: a URL of the server, or the gateway, which names a known client. `undefined` if there is none. */
  readonly registration:
    | { readonly kind: "forward"; readonly url: Text }
    | { readonly kind: "known"; readonly clientId: Text }
    | undefined;
  /** Endpoints of the gateway for a server that refuses the parameter `resource`; `undefined` for its own. */
  readonly withoutResource: WithoutResourceNode | undefined;
}

/** A tenant of Entra, whose endpoints refuse the parameter `resource`. */
interface WithoutResourceNode {
  readonly authority: string;
  readonly client: { readonly id: Text; readonly secret: Text | MountedFile } | undefined;
}

/** Returns the key set of the issuer; `undefined` if its URL does not follow from the issuer (reported). */
export function keysOfIssuer(
  { issuer, provider = "auth0" }: Pick<AuthorizationServerConfig, "issuer" | "provider">,
  { origin, diagnostics }: ResolveContext,
): JwksConfig | undefined {
  const at = childOf(origin, "issuer");
  const url = urlOf(issuer, identityProviders[provider].keys);
  if (url === undefined) reportIssuer(provider, at, diagnostics);
  return url === undefined ? undefined : issuerJwks(url, at);
}

/**
 * Returns how the metadata of the authorization server is adapted; `undefined` if it is served unchanged, `mistake` if one was
 * reported.
 */
export function adaptedServer(
  { issuer, audiences, provider, clientId, clientSecret }: AuthorizationServerConfig,
  context: ResolveContext,
): AdaptedServerNode | "mistake" | undefined {
  const { origin, diagnostics } = context;
  const at = childOf(origin, "issuer");
  const {
    refusesResource,
    takesAudience,
    registration: place,
  } = provider === undefined ? {} : identityProviders[provider];
  if (clientSecret !== undefined && refusesResource !== true) {
    const params = { field: '"clientSecret"', actsOn: "provider: Entra", found: undefined };
    diagnostics.report("misplaced-field", keyPlace(clientSecret.valueOrigin), params);
    return "mistake";
  }
  if (provider === undefined && clientId === undefined) return undefined;
  const audience = takesAudience === true ? (audiences[0] ?? "") : undefined;
  const authority =
    refusesResource === true && typeof issuer === "string" ? entraAuthority(issuer) : undefined;
  const url = place === undefined || clientId !== undefined ? undefined : urlOf(issuer, place);
  const lacksUrl = place !== undefined && clientId === undefined && url === undefined;
  if (
    provider !== undefined &&
    (lacksUrl || (refusesResource === true && authority === undefined))
  ) {
    reportIssuer(provider, at, diagnostics);
    return "mistake";
  }
  if (provider !== undefined && clientId === undefined && UNREGISTERED.includes(provider)) {
    diagnostics.report(
      "provider-without-registration",
      { ...origin, part: "key" },
      {
        provider: identityProviders[provider].title,
      },
    );
    return "mistake";
  }
  const client = clientId !== undefined &&
    clientSecret && {
      id: clientId,
      secret: ownValue(clientSecret, context),
    };
  return {
    audience,
    registration:
      clientId !== undefined
        ? { kind: "known", clientId }
        : url === undefined
          ? undefined
          : { kind: "forward", url },
    withoutResource:
      authority === undefined ? undefined : { authority, client: client || undefined },
  };
}

/** Providers at which clients cannot register. */
const UNREGISTERED: readonly IdentityProvider[] = ["authentik", "entra"];

function reportIssuer(provider: IdentityProvider, at: Origin, diagnostics: Diagnostics): void {
  const expected = `an issuer of ${identityProviders[provider].title}, without variables`;
  diagnostics.report("bad-format", at, { field: '"issuer"', expected });
}
