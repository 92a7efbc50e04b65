/** URLs of identity providers that follow from an issuer; `undefined` if it is not one of the provider. */
export const issuerUrls = {
  /** Registration of Okta's clients, which belongs to the organization, not to one of its authorization servers. */
  oktaRegistration: (issuer: string) => `${new URL(issuer).origin}/oauth2/v1/clients`,
  descopeKeys: (issuer: string) => {
    const { origin, project } = descopeServer(issuer) ?? {};
    return project === undefined
      ? `${issuer.replace(/\/$/, "")}/.well-known/jwks.json`
      : `${origin}/${project}/.well-known/jwks.json`;
  },
  descopeRegistration: (issuer: string) => {
    const { origin, project, server } = descopeServer(issuer) ?? {};
    return project && `${origin}/v1/mgmt/mcp/client/${project}/${server}/register`;
  },
  entraKeys: (issuer: string) => below(entraAuthority(issuer), "/discovery/v2.0/keys"),
  entraIssuer: (issuer: string) => below(entraAuthority(issuer), "/v2.0"),
  entraMetadata: (issuer: string) =>
    below(entraAuthority(issuer), "/v2.0/.well-known/openid-configuration"),
} as const satisfies Readonly<Record<string, (issuer: string) => string | undefined>>;

/** Name of a URL that follows from an issuer. */
export type IssuerUrlName = keyof typeof issuerUrls;

/**
 * Returns the tenant's authority of an Entra issuer (`https://login.microsoftonline.com/TENANT/v2.0`, or
 * `https://sts.windows.net/TENANT/` for tokens of version 1); `undefined` for another URL.
 */
function entraAuthority(issuer: string): string | undefined {
  const { origin, pathname } = new URL(issuer);
  const [, tenant] = /^\/([^/]+)(?:\/v2\.0)?\/?$/.exec(pathname) ?? [];
  const login = origin === "https://sts.windows.net" ? "https://login.microsoftonline.com" : origin;
  return tenant && `${login}/${tenant}`;
}

function below(authority: string | undefined, path: string): string | undefined {
  return authority && `${authority}${path}`;
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
