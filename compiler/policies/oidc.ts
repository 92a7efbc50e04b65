import type { ProviderEndpoints } from "../../runtime/auth/oidc/provider.ts";
import { readWhatIsHere } from "../backends/parts/tls-files.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { secretEntry } from "../manifests/field-types.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import { withoutLiteral } from "../model/literal-secrets.ts";
import type { PathMatch } from "../model/matches.ts";
import { type AtStartup, type MountedFile, shownText, type Text } from "../model/texts.ts";
import {
  anyText,
  choice,
  either,
  type Infer,
  list,
  type ObjectValue,
  object,
  type Schema,
  shortText,
  text,
  unsupportedBut,
  type ValueCheck,
} from "../schema/schema.ts";
import { needsField } from "../schema/value-checks.ts";
import {
  type JwksConfig,
  jwksSchema,
  kubernetesJwksSchema,
  lowerJwks,
  lowerKubernetesJwks,
} from "./jwt-auth/jwks.ts";
import { tokenCheck } from "./jwt-auth/token-access.ts";
import { type JwtProviderNode, resolveProviders } from "./jwt-auth.ts";
import { type LogoutConfig, logoutSchema, lowerLogout } from "./oidc/logout.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

type Endpoints = AtStartup<ProviderEndpoints>;

/** Endpoints of the provider: discovered from its metadata, or configured. */
type ProviderConfig<Keys> =
  | { readonly kind: "discovered"; readonly url: Text | undefined }
  | { readonly kind: "configured"; readonly endpoints: Endpoints; readonly keys: Keys };

interface OidcClient<Keys> {
  readonly issuer: Text;
  readonly clientId: Text;
  readonly clientSecret: Text | MountedFile;
  /** URL to which the provider returns browsers after a login. */
  readonly redirectUri: Text;
  readonly scopes: readonly string[];
  readonly provider: ProviderConfig<Keys>;
  readonly logout?: LogoutConfig;
}

/** `oidc` as configured. */
interface OidcConfig extends OidcClient<JwksConfig> {
  readonly secretOrigin: Origin;
}

/** `oidc` resolved. */
type OidcNode = OidcClient<JwtProviderNode["keys"]>;

const address = (description: string) => text(description, { format: "url", readAtStart: true });

const endpointFields = {
  issuer: shortText("URL of the provider; must equal the `iss` of its ID tokens exactly.", {
    format: "url",
    readAtStart: true,
    examples: ["https://login.example.com"],
  }),
  authorizationEndpoint: address("URL at which browsers log in, if it is not discovered."),
  tokenEndpoint: address("URL at which codes are exchanged for tokens, if it is not discovered."),
  tokenEndpointAuth: choice("How the gateway authenticates at `tokenEndpoint`.", [
    ...(["clientSecretBasic", "clientSecretPost"] as const),
  ]),
  endSessionEndpoint: address("URL at which browsers log out, if it is not discovered."),
};

const clientFields = {
  clientId: shortText("Client id of the gateway at the provider.", { readAtStart: true }),
  redirectURI: text(
    "URL to which the provider returns browsers: one of the gateway's own, registered at the provider. The route also serves its path.",
    {
      format: "url",
      readAtStart: true,
      maxLength: 1024,
      examples: ["https://app.example.com/oauth/callback"],
    },
  ),
  scopes: list(
    text("A scope.", {
      maxLength: 256,
      pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$",
      form: "a scope without spaces",
    }),
    {
      maxItems: 64,
      description:
        "Scopes to request in addition to `openid`, such as `profile`, `email`, or `offline_access` if the provider requires it for refresh tokens.",
    },
  ),
  logout: logoutSchema,
};

const EXPLICIT = ["authorizationEndpoint", "tokenEndpoint", "jwks"] as const;

/** Either all endpoints are configured, or all are discovered. */
const completeProvider: ValueCheck = {
  message: '"authorizationEndpoint", "tokenEndpoint" and "jwks" require each other',
  holds: (value) => new Set(EXPLICIT.map((field) => value[field] === undefined)).size === 1,
  cel: "has(self.authorizationEndpoint) == has(self.tokenEndpoint) && has(self.tokenEndpoint) == has(self.jwks)",
};

const providerChecks = [
  completeProvider,
  needsField("tokenEndpointAuth", "tokenEndpoint"),
  needsField("endSessionEndpoint", "tokenEndpoint"),
];

const schema = object(
  {
    ...endpointFields,
    ...clientFields,
    discovery: object(
      {
        url: address("URL of the document."),
        file: unsupportedBut(
          "provider metadata in files",
          "write its endpoints: authorizationEndpoint, tokenEndpoint, jwks",
        ),
      },
      {
        exactlyOneOf: ["url", "file"],
        description:
          "The provider's metadata document; `/.well-known/openid-configuration` below the issuer by default.",
      },
    ),
    jwks: jwksSchema,
    clientSecret: either(
      anyText({ minLength: 1, maxLength: 2048, secret: true }),
      object({ file: text("Path of a file with the secret.") }, { required: ["file"] }),
      {
        description:
          "Client secret of the gateway at the provider, as `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
      },
    ),
  },
  {
    required: ["issuer", "clientId", "clientSecret", "redirectURI"],
    atMostOneOf: ["discovery", "tokenEndpoint"],
    checks: providerChecks,
    description:
      "Sends browsers to log in at an OpenID provider (authorization code with PKCE). The session is an encrypted cookie, refreshed as long as the provider allows. Without a session, requests other than page loads of a browser get 401.",
    examples: [
      {
        issuer: "https://login.example.com",
        clientId: "shop",
        clientSecret: "${OIDC_CLIENT_SECRET}",
        redirectURI: "https://shop.example.com/oauth/callback",
        scopes: ["profile", "email"],
      },
    ],
  },
);

const kubernetesSchema = object(
  {
    ...endpointFields,
    ...clientFields,
    jwks: kubernetesJwksSchema,
    clientSecretRef: secretEntry("A Secret with the client secret.", "clientSecret"),
  },
  {
    required: ["issuer", "clientId", "clientSecretRef", "redirectURI"],
    checks: providerChecks,
    description: "Sends browsers to log in at an OpenID provider (authorization code with PKCE).",
  },
);

/** Authenticates browsers by a login at an OpenID provider (OpenID Connect Core, authorization code flow). */
export const oidc: Policy<
  "oidc",
  OidcConfig,
  OidcNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "oidc",
  summary:
    "sends browsers to log in at an OpenID provider and stores the session in an encrypted cookie; rules read the claims as `jwt`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    addPrefixes: ownPaths,
    announcesLogouts: ({ logout }) => logout?.backChannelPath !== undefined,
    usesStore: ({ logout }) => (logout?.backChannelPath === undefined ? "sharing" : "records"),
  },
  schema,
  names: ["oidc"],
  access: {
    identity: "jwt",
    passesAnonymous: () => false,
    direction: "closes",
    checks: ({ issuer, clientId }) => [
      tokenCheck("strict", [
        { issuer, audiences: [shownText(clientId)], requiredClaims: ["exp", "sub"] },
      ]),
    ],
    compare: {
      changes: (before, after) => [
        ...changed("issuer", before.issuer, after.issuer),
        ...changed("client", before.clientId, after.clientId),
        ...providerChanges(before.provider, after.provider),
      ],
      rest: ({ issuer: _, clientId: __, provider, ...rest }) => ({
        ...rest,
        keys: provider.kind === "configured" ? provider.keys : undefined,
      }),
    },
  },
  lowering: {
    merge: "replace",
    lower: (given, origin) => {
      const { clientSecret: secret, discovery, jwks } = given;
      const isText = typeof secret === "string" || "kind" in secret;
      return {
        ...lowerClient(given),
        clientSecret: isText ? secret : { kind: "path", file: secret.file },
        secretOrigin: childOf(origin, "clientSecret"),
        provider: lowerProvider(
          given,
          jwks === undefined ? undefined : lowerJwks(jwks, childOf(origin, "jwks")),
          discovery?.url,
        ),
      };
    },
    resolve: (config, context) => {
      const others = context.identities.get("jwt")?.filter((kind) => kind !== "oidc") ?? [];
      const other = others.find((kind) => context.route.policies.includes(kind));
      if (other !== undefined) {
        context.diagnostics.report(
          "login-and-token",
          { ...context.origin, part: "key" },
          { policy: other },
        );
        return undefined;
      }
      const { secretOrigin, clientSecret: secret, provider, ...client } = config;
      const found = resolveProvider(client.issuer, provider, context);
      if (found === undefined) return undefined;
      if (typeof secret !== "string" && secret.kind === "path")
        readWhatIsHere(secret.file, childOf(secretOrigin, "file"), context);
      const clientSecret =
        typeof secret === "string" || secret.kind === "env"
          ? withoutLiteral(secret, secretOrigin, { field: '"clientSecret"' }, context)
          : secret;
      return { ...client, clientSecret, provider: found };
    },
  },
  kubernetes: { field: "traffic.oidc", schema: kubernetesSchema, lower: lowerKubernetes },
};

function lowerClient({
  issuer,
  clientId,
  redirectURI,
  scopes = [],
  logout,
}: ClientValue): Omit<OidcClient<never>, "clientSecret" | "provider"> {
  return {
    issuer,
    clientId,
    redirectUri: redirectURI,
    scopes: [...new Set(["openid", ...scopes])],
    ...(logout && { logout: lowerLogout(logout) }),
  };
}

type Value<Of extends Readonly<Record<string, Schema>>, Required> = ObjectValue<Of, Required>;
type ClientValue = Value<
  typeof clientFields & Pick<typeof endpointFields, "issuer">,
  "issuer" | "clientId" | "redirectURI"
>;

function lowerProvider(
  given: Value<typeof endpointFields, "issuer">,
  keys: JwksConfig | undefined,
  url: Text | undefined,
): ProviderConfig<JwksConfig> {
  const { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, endSessionEndpoint } = given;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined || keys === undefined) {
    return { kind: "discovered", url };
  }
  const endpoints: Endpoints = {
    authorizationEndpoint,
    tokenEndpoint,
    tokenEndpointAuth: tokenEndpointAuth ?? "clientSecretBasic",
    ...(endSessionEndpoint !== undefined && { endSessionEndpoint }),
  };
  return { kind: "configured", endpoints, keys };
}

function lowerKubernetes(
  given: Infer<typeof kubernetesSchema>,
  context: KubernetesContext,
): OidcConfig | undefined {
  const { origin, secretFiles } = context;
  const at = childOf(origin, "clientSecretRef");
  const { name, key = "clientSecret" } = given.clientSecretRef;
  const [file = ""] = secretFiles(name, [key], "clientSecret", at);
  const keys = given.jwks && lowerKubernetesJwks(given.jwks, childOf(origin, "jwks"), context);
  // An unknown key set has already been reported.
  if (given.jwks !== undefined && keys === undefined) return undefined;
  return {
    ...lowerClient(given),
    clientSecret: { kind: "secret", file },
    secretOrigin: at,
    provider: lowerProvider(given, keys, undefined),
  };
}

function resolveProvider(
  issuer: Text,
  provider: ProviderConfig<JwksConfig>,
  context: ResolveContext,
): OidcNode["provider"] | undefined {
  if (provider.kind === "discovered") return provider;
  const { endpoints, keys: jwks } = provider;
  const [found] =
    resolveProviders([{ issuer, audiences: [], requiredClaims: [], jwks }], context) ?? [];
  return found && { kind: "configured", endpoints, keys: found.keys };
}

/**
 * Returns the callback and logout paths, so that users need not list them; a path that is read at start is
 * unknown.
 */
function ownPaths(
  _paths: readonly PathMatch[],
  { redirectUri, logout }: OidcNode,
): readonly string[] {
  const callback = typeof redirectUri === "string" ? [new URL(redirectUri).pathname] : [];
  const own = [logout?.path, logout?.backChannelPath].filter((path) => path !== undefined);
  return [...callback, ...own].filter((path) => path !== "/");
}

/** Compares the sources of the provider's endpoints: they determine who is logged in, so new ones open access. */
function providerChanges(
  before: OidcNode["provider"],
  after: OidcNode["provider"],
): readonly SettingsChange[] {
  return listChanges("provider", providerTexts(before), providerTexts(after), "opens");
}

function providerTexts(provider: OidcNode["provider"]): readonly string[] {
  if (provider.kind === "discovered")
    return provider.url === undefined ? ["by its issuer"] : [shownText(provider.url)];
  const { endpoints, keys } = provider;
  const urls = Object.entries(endpoints).map(([name, url]) =>
    typeof url === "boolean" ? `${name} ${url}` : `${name} ${shownText(url)}`,
  );
  return keys.kind === "remote" ? [...urls, `jwks ${shownText(keys.url)}`] : urls;
}

function changed(what: string, before: Text, after: Text): readonly SettingsChange[] {
  return listChanges(what, [shownText(before)], [shownText(after)], "opens");
}
