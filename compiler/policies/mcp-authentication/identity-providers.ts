import type { Text } from "../../model/texts.ts";

/** Identity providers whose metadata must be adapted for MCP clients. */
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number];

/** Names of the identity providers in a file; manifests spell them with a capital. */
export const IDENTITY_PROVIDERS = [
  ...(["auth0", "keycloak", "okta", "descope", "authentik", "entra"] as const),
];

/** Properties of an identity provider that MCP clients depend on. */
export interface ProviderTraits {
  /** Name of the product. */
  readonly title: string;
  readonly keys: IssuerUrl;
  /** Whether clients must name the API by a parameter `audience`. */
  readonly takesAudience?: true;
  /** URL where clients register; absent if none can. */
  readonly registration?: IssuerUrl;
  /** Whether it refuses requests with the parameter `resource`, which MCP clients send. */
  readonly refusesResource?: true;
}

/**
 * A URL that depends on the issuer: a path below it, or a function, which returns `undefined` if the issuer is not one of
 * this provider.
 */
export type IssuerUrl = string | ((issuer: string) => string | undefined);

/** Identity providers by name. */
export const identityProviders: Readonly<Record<IdentityProvider, ProviderTraits>> = {
  auth0: { title: "Auth0", keys: "/.well-known/jwks.json", takesAudience: true },
  keycloak: {
    title: "Keycloak",
    keys: "/protocol/openid-connect/certs",
    registration: "/clients-registrations/openid-connect",
  },
  okta: {
    title: "Okta",
    keys: "/v1/keys",
    takesAudience: true,
    // Registration belongs to the organization, not to one of its authorization servers.
    registration: (issuer) => `${new URL(issuer).origin}/oauth2/v1/clients`,
  },
  descope: {
    title: "Descope",
    keys: (issuer) => {
      const { origin, project } = descopeServer(issuer) ?? {};
      return project === undefined
        ? `${issuer.replace(/\/$/, "")}/.well-known/jwks.json`
        : `${origin}/${project}/.well-known/jwks.json`;
    },
    registration: (issuer) => {
      const { origin, project, server } = descopeServer(issuer) ?? {};
      return project && `${origin}/v1/mgmt/mcp/client/${project}/${server}/register`;
    },
  },
  authentik: { title: "authentik", keys: "/jwks/" },
  entra: {
    title: "Microsoft Entra",
    keys: (issuer) => {
      const authority = entraAuthority(issuer);
      return authority && `${authority}/discovery/v2.0/keys`;
    },
    refusesResource: true,
  },
};

/**
 * Returns the tenant's authority of an Entra issuer (`https://login.microsoftonline.com/TENANT/v2.0`, or
 * `https://sts.windows.net/TENANT/` for tokens of version 1); `undefined` for another URL.
 */
export function entraAuthority(issuer: string): string | undefined {
  const { origin, pathname } = new URL(issuer);
  const [, tenant] = /^\/([^/]+)(?:\/v2\.0)?\/?$/.exec(pathname) ?? [];
  const login = origin === "https://sts.windows.net" ? "https://login.microsoftonline.com" : origin;
  return tenant && `${login}/${tenant}`;
}

interface DescopeServer {
  readonly origin: string;
  readonly project: string;
  readonly server: string;
}

/** Returns the project and server of an issuer for agents (`/v1/apps/agentic/PROJECT/SERVER`). */
function descopeServer(issuer: string): DescopeServer | undefined {
  const { origin, pathname } = new URL(issuer);
  const [, project, server] = /^\/v1\/apps\/agentic\/([^/]+)\/([^/]+)/.exec(pathname) ?? [];
  return project === undefined || server === undefined ? undefined : { origin, project, server };
}

/** Returns a URL for an issuer; `undefined` if that needs another issuer, or one that is known at build. */
export function urlOf(issuer: Text, url: IssuerUrl): Text | undefined {
  if (typeof url === "string") return withPath(issuer, url);
  return typeof issuer === "string" ? url(issuer) : undefined;
}

function withPath(issuer: Text, path: string): Text {
  if (typeof issuer === "string") return `${issuer.replace(/\/$/, "")}${path}`;
  return { kind: "env", parts: [...issuer.parts, path] };
}
