import { ownValue } from "../../backends/parts/sent-credentials.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { SentCredentialConfig } from "../../model/sent-credentials.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import { issuerJwks, type JwksConfig } from "../jwt-auth/jwks.ts";
import type { ResolveContext } from "../policy.ts";
import { type FrontConfig, type FrontNode, resolveFront } from "./authorization-server.ts";
import { type IdentityProvider, identityProviders, urlOf } from "./identity-providers.ts";

/** An authorization server and its known client, as configured. */
export interface AuthorizationServerConfig {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly provider: IdentityProvider | undefined;
  readonly clientId: Text | undefined;
  readonly clientSecret: Pick<SentCredentialConfig, "value" | "valueOrigin"> | undefined;
  /** `undefined` if clients use the authorization server itself. */
  readonly front: FrontConfig | undefined;
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
  /** The gateway as authorization server in front of it; `undefined` if clients use the server itself. */
  readonly front: OwnServerNode | undefined;
}

/** An authorization server of the gateway, and its client at the provider. */
interface OwnServerNode extends FrontNode {
  /** Resources for which clients may request tokens. */
  readonly resources: readonly string[];
  readonly client: {
    readonly clientId: Text;
    readonly clientSecret: Text | MountedFile | undefined;
  };
}

/** A tenant of Entra, whose endpoints refuse the parameter `resource`. */
interface WithoutResourceNode {
  /** URL of the tenant's metadata, and the issuer in it. */
  readonly metadata: { readonly url: Text; readonly issuer: Text };
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
 * reported. `scopes`: those that the metadata of the resource names.
 */
export function adaptedServer(
  { issuer, audiences, provider, clientId, clientSecret, front }: AuthorizationServerConfig,
  scopes: readonly string[],
  context: ResolveContext,
): AdaptedServerNode | "mistake" | undefined {
  const { origin, diagnostics } = context;
  const at = childOf(origin, "issuer");
  const {
    refusesResource,
    takesAudience,
    registration: place,
  } = provider === undefined ? {} : identityProviders[provider];
  if (clientSecret !== undefined && refusesResource !== true && front === undefined) {
    const actsOn = "provider: Entra, and to authorizationServer";
    const params = { field: '"clientSecret"', actsOn, found: undefined };
    diagnostics.report("misplaced-field", keyPlace(clientSecret.valueOrigin), params);
    return "mistake";
  }
  if (provider === undefined && clientId === undefined) return undefined;
  const audience = takesAudience === true ? (audiences[0] ?? "") : undefined;
  const metadata = refusesResource === true ? tenantMetadata(issuer) : undefined;
  const url = place === undefined || clientId !== undefined ? undefined : urlOf(issuer, place);
  const lacksUrl = place !== undefined && clientId === undefined && url === undefined;
  if (
    provider !== undefined &&
    (lacksUrl || (refusesResource === true && metadata === undefined))
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
  const secret = clientSecret && ownValue(clientSecret, context);
  const server = front && resolveFront(front, scopes, context);
  if (front !== undefined && server === undefined) return "mistake";
  return {
    audience,
    registration:
      clientId !== undefined
        ? { kind: "known", clientId }
        : url === undefined
          ? undefined
          : { kind: "forward", url },
    withoutResource:
      metadata === undefined
        ? undefined
        : {
            metadata,
            client:
              clientId === undefined || secret === undefined ? undefined : { id: clientId, secret },
          },
    front:
      server === undefined || clientId === undefined
        ? undefined
        : { ...server, resources: audiences, client: { clientId, clientSecret: secret } },
  };
}

/** Providers at which clients cannot register. */
const UNREGISTERED: readonly IdentityProvider[] = ["authentik", "entra"];

/** Returns the metadata of a tenant of Entra; `undefined` if the issuer is of another provider. */
function tenantMetadata(issuer: Text): WithoutResourceNode["metadata"] | undefined {
  const [url, own] = [urlOf(issuer, "entraMetadata"), urlOf(issuer, "entraIssuer")];
  return url === undefined || own === undefined ? undefined : { url, issuer: own };
}

function reportIssuer(provider: IdentityProvider, at: Origin, diagnostics: Diagnostics): void {
  const expected = `an issuer of ${identityProviders[provider].title}`;
  diagnostics.report("bad-format", at, { field: '"issuer"', expected });
}
