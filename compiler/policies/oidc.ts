import type { LogoutSettings } from "../../runtime/auth/oidc/oidc-settings.ts";
import type { ProviderEndpoints } from "../../runtime/auth/oidc/provider.ts";
import { readWhatIsHere } from "../backends/parts/tls-files.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { localObject } from "../manifests/field-types.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import { withoutLiteral } from "../model/literal-secrets.ts";
import type { PathMatch } from "../model/matches.ts";
import { type AtStartup, type MountedFile, shownText, type Text } from "../model/texts.ts";
import {
  anyText,
  boolean,
  choice,
  either,
  type Infer,
  list,
  needsField,
  type ObjectValue,
  object,
  type Schema,
  shortText,
  text,
  unsupportedBut,
  type ValueCheck,
} from "../schema/schema.ts";
import {
  type JwksConfig,
  jwksSchema,
  kubernetesJwksSchema,
  lowerJwks,
  lowerKubernetesJwks,
} from "./jwt-auth/jwks.ts";
import { tokenCheck } from "./jwt-auth/token-access.ts";
import { type JwtProviderNode, resolveProviders } from "./jwt-auth.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

type Endpoints = AtStartup<ProviderEndpoints>;

/** Where the provider is asked: as its own document says, or as is configured. */
type ProviderConfig<Keys> =
  | { readonly kind: "discovered"; readonly url: Text | undefined }
  | { readonly kind: "configured"; readonly endpoints: Endpoints; readonly keys: Keys };

interface OidcClient<Keys> {
  readonly issuer: Text;
  readonly clientId: Text;
  readonly clientSecret: Text | MountedFile;
  /** Where logins come back to. */
  readonly redirectUri: Text;
  readonly scopes: readonly string[];
  readonly provider: ProviderConfig<Keys>;
  readonly logout?: Omit<LogoutSettings, "redirectUri"> & { readonly redirectUri?: Text };
}

/** `oidc` as configured. */
interface OidcConfig extends OidcClient<JwksConfig> {
  readonly secretOrigin: Origin;
}

/** `oidc` resolved. */
type OidcNode = OidcClient<JwtProviderNode["keys"]>;

const address = (description: string) => text(description, { format: "url", readAtStart: true });

const endpointFields = {
  issuer: shortText("The provider; the issuer of its id tokens (`iss`), exactly.", {
    format: "url",
    readAtStart: true,
    examples: ["https://login.example.com"],
  }),
  authorizationEndpoint: address(
    "Where browsers log in, when no document of the provider says it.",
  ),
  tokenEndpoint: address("Where codes become tokens, when no document of the provider says it."),
  tokenEndpointAuth: choice("How the gateway shows its secret there.", [
    ...(["clientSecretBasic", "clientSecretPost"] as const),
  ]),
  endSessionEndpoint: address("Where browsers log out, when no document of the provider says it."),
};

const clientFields = {
  clientId: shortText("The gateway's name at the provider.", { readAtStart: true }),
  redirectURI: text(
    "Where logins come back to: an address of the gateway as browsers see it, registered at the provider. The route serves its path too.",
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
        "What is asked for besides `openid`: `profile`, `email`; `offline_access` where the provider renews sessions for it alone.",
    },
  ),
  logout: object(
    {
      path: text("The path that ends a session; the route serves it too.", {
        maxLength: 1024,
        pattern: "^/[A-Za-z0-9/._~-]*$",
        form: 'a path such as "/logout"',
      }),
      redirectURI: address(
        "Where the browser goes then; registered at the provider, unless `local` is set.",
      ),
      local: boolean("True: the login at the provider goes on.", { default: false }),
    },
    {
      required: ["path"],
      description:
        "Lets people log out: here, and at the provider where it says how (OpenID Connect RP-Initiated Logout). The browser forgets the session; a copy of its cookie is refused at once by the process where the logout came, and by other replicas from the end of its id token on.",
    },
  ),
};

const EXPLICIT = ["authorizationEndpoint", "tokenEndpoint", "jwks"] as const;

/** What is known of the provider without its document is known whole. */
const completeProvider: ValueCheck = {
  message: '"authorizationEndpoint", "tokenEndpoint" and "jwks" come together',
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
        url: address("Its address."),
        file: unsupportedBut(
          "documents of providers in files",
          "write its endpoints: authorizationEndpoint, tokenEndpoint, jwks",
        ),
      },
      {
        exactlyOneOf: ["url", "file"],
        description:
          "The provider's own document; `/.well-known/openid-configuration` below the issuer by default.",
      },
    ),
    jwks: jwksSchema,
    clientSecret: either(
      anyText({ minLength: 1, maxLength: 2048, secret: true }),
      object({ file: text("Path of a file with the secret.") }, { required: ["file"] }),
      {
        description:
          "Its secret there, as `${NAME}`, or `{file: PATH}`, which is read when the gateway starts and when it changes.",
      },
    ),
  },
  {
    required: ["issuer", "clientId", "clientSecret", "redirectURI"],
    atMostOneOf: ["discovery", "tokenEndpoint"],
    checks: providerChecks,
    description:
      "Has browsers log in at an OpenID provider (authorization code with PKCE). The session is a sealed cookie, renewed while the provider renews it; what is no page of a browser gets a 401 without one.",
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
    clientSecretRef: localObject("A Secret with the key `clientSecret`."),
  },
  {
    required: ["issuer", "clientId", "clientSecretRef", "redirectURI"],
    checks: providerChecks,
    description: "Has browsers log in at an OpenID provider.",
  },
);

/** Verified identity from a login of a browser (OpenID Connect Core, authorization code flow). */
export const oidc: Policy<
  "oidc",
  OidcConfig,
  OidcNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "oidc",
  summary:
    "has browsers log in at an OpenID provider and keeps the session in a sealed cookie; the claims are `jwt` in rules",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  names: ["oidc"],
  identity: "jwt",
  passesAnonymous: () => false,
  addPrefixes: ownPaths,
  direction: "closes",
  access: ({ issuer, clientId }) => [
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
  kubernetes: { field: "traffic.oidc", schema: kubernetesSchema, lower: lowerKubernetes },
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
    ...(logout && {
      logout: {
        path: logout.path,
        isLocal: logout.local ?? false,
        ...(logout.redirectURI !== undefined && { redirectUri: logout.redirectURI }),
      },
    }),
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
  const [file = ""] = secretFiles(given.clientSecretRef.name, ["clientSecret"], "clientSecret", at);
  const keys = given.jwks && lowerKubernetesJwks(given.jwks, childOf(origin, "jwks"), context);
  // A key set that is not known was reported.
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

/** The paths of the policy itself, so that users need not list them; one that is read at start is not known. */
function ownPaths(
  _paths: readonly PathMatch[],
  { redirectUri, logout }: OidcNode,
): readonly string[] {
  const callback = typeof redirectUri === "string" ? [new URL(redirectUri).pathname] : [];
  return [...callback, ...(logout === undefined ? [] : [logout.path])].filter(
    (path) => path !== "/",
  );
}

/** Whoever serves the provider's documents says who has logged in. */
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
