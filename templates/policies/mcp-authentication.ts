import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { clientSecretCode } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import { jwtProviders } from "./jwt-auth.ts";
import { locationCode } from "./parts/credential-location.ts";
import { awaitedIdentitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/mcp-authentication";
const OAUTH = "gwc/runtime/auth/oauth";
const METADATA = `${OAUTH}/metadata`;
const FRONT = "gwc/runtime/auth/front";
const SERVE_FRONT = `${FRONT}/serve-front`;

/** `mcpAuthentication`: OAuth metadata first, for any request; then the token check. */
export const mcpAuthenticationTemplate: PolicyTemplate<"mcpAuthentication"> = {
  identity: "jwt",
  openStepUp: imported("gwc/runtime/auth/oauth/step-up", "openStepUp"),
  detail: ({ mode }) => mode,
  ownToken: ({ adapted }) => {
    if (adapted?.front === undefined) return undefined;
    const owner = code`${imported(`${FRONT}/authorize`, "frontCookies")}(${literal(adapted.front.url)})`;
    return code`${imported("gwc/runtime/auth/oidc/browser-cookies", "ownCookies")}(${owner})`;
  },
  code: ({ settings, origin }, scope) => {
    const { trace } = scope;
    const { mode, providers, challengeScope } = settings;
    const location = locationCode(settings.location, "findToken", scope);
    const value = {
      location: location.value,
      providers: jwtProviders(providers),
      scope: challengeScope,
    };
    const verifier = imported("gwc/runtime/policies/jwt-auth", "openJwt");
    return {
      declarations: [
        ...location.declarations,
        code`
          ${trace(origin)}
          const mcpAuthentication = ${verifier}(${literal(value)});
        `,
        oauthConstant(settings),
      ],
      first: [metadataStep(settings)],
      ...awaitedIdentitySteps("jwt", mode, CHECKS, code`mcpAuthentication`),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireMcpJwt"),
  optional: imported(MODULE, "acceptMcpJwt"),
  permissive: imported("gwc/runtime/policies/jwt-auth", "observeJwt"),
};

type Settings = PolicySettings["mcpAuthentication"];

function oauthConstant(settings: Settings): Code {
  const value = literal(oauthSettings(settings));
  return settings.adapted?.front === undefined
    ? code`const oauth = ${value};`
    : code`const oauth = ${imported(`${FRONT}/front-settings`, "openFront")}(${value});`;
}

/** Writes the step that serves metadata, and the endpoints of the authorization server if the gateway is one. */
function metadataStep({ adapted }: Settings): Code {
  if (adapted?.front !== undefined) {
    const [isPath, serve] = [
      imported(SERVE_FRONT, "isFrontPath"),
      imported(SERVE_FRONT, "serveFront"),
    ];
    return code`if (${isPath}(exchange, oauth)) return ${serve}(exchange, oauth);`;
  }
  const serve =
    adapted === undefined
      ? imported(METADATA, "serveOAuth")
      : imported(`${OAUTH}/adapted-server`, "serveAdaptedOAuth");
  return code`if (${imported(METADATA, "isOAuthPath")}(exchange)) return ${serve}(exchange, oauth);`;
}

function oauthSettings({ issuer, adapted, resourceMetadata }: Settings): Printable {
  const tenant = adapted?.withoutResource?.metadata;
  const urls: Code = code`${imported(`${OAUTH}/well-known`, "metadataUrls")}(${literal(issuer)})`;
  return {
    issuer,
    ...(tenant === undefined
      ? { metadataUrls: urls }
      : { metadataUrls: [tenant.url], metadataIssuer: tenant.issuer }),
    resourceMetadata: {
      // With an adapted provider, clients see the gateway as the authorization server.
      ...(adapted === undefined ? { authorization_servers: [issuer] } : {}),
      ...(adapted?.front && { authorization_servers: [adapted.front.url] }),
      mcp_protocol_version: "2025-11-25",
      resource_type: "mcp-server",
      bearer_methods_supported: ["header"],
      ...(resourceMetadata as Readonly<Record<string, Printable>>),
    },
    ...(adapted?.front ? frontSettings(adapted, adapted.front) : adapted && adaptation(adapted)),
  };
}

/** Writes the authorization server that the gateway is for clients. */
function frontSettings(
  { audience, withoutResource }: Adapted,
  { client, scopes, ...front }: NonNullable<Adapted["front"]>,
): Readonly<Record<string, Printable | undefined>> {
  const { clientId, clientSecret: secret } = client;
  return {
    ...front,
    redirectUris: [...front.redirectUris],
    clientNames: front.clientNames && [...front.clientNames],
    clientDocuments: [...front.clientDocuments],
    resources: [...front.resources],
    registrationLifetime: milliseconds(front.registrationLifetime),
    client: { clientId, clientSecret: secret && clientSecretCode(secret) },
    scopes: [...scopes],
    audience,
    sendsResource: withoutResource === undefined,
  };
}

/** Writes the adaptation of an authorization server. */
function adaptation({
  audience,
  registration,
  withoutResource,
}: Adapted): Readonly<Record<string, Printable | undefined>> {
  return {
    audience,
    registration: registration && registrationCode(registration),
    endpoints: withoutResource && entraCode(withoutResource),
  };
}

type Adapted = NonNullable<Settings["adapted"]>;

function registrationCode(registration: NonNullable<Adapted["registration"]>): Code {
  const module = `${OAUTH}/registration`;
  return registration.kind === "known"
    ? code`${imported(module, "knownClient")}(${literal(registration.clientId)})`
    : code`${imported(module, "forwardedRegistration")}(${literal(registration.url)})`;
}

function entraCode({ client }: NonNullable<Adapted["withoutResource"]>): Code {
  const known = client && { id: client.id, secret: clientSecretCode(client.secret) };
  return code`${imported(`${OAUTH}/entra`, "entraEndpoints")}(${known === undefined ? [] : literal(known)})`;
}
