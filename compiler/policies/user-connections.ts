import { absentIdentities, optionalIdentities } from "../backends/parts/known-identities.ts";
import { readWhatIsHere } from "../backends/parts/tls-files.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { secretEntry } from "../manifests/field-types.ts";
import { listChanges } from "../model/access.ts";
import { withoutLiteral } from "../model/literal-secrets.ts";
import type { MountedFile, Text } from "../model/texts.ts";
import { DEFAULT_USER_CLAIM } from "../model/user-connections.ts";
import {
  anyText,
  either,
  type Infer,
  list,
  type ObjectValue,
  object,
  shortText,
  text,
} from "../schema/schema.ts";
import { needsField } from "../schema/value-checks.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

/** A server whose users connect their accounts. */
interface ConnectionServer {
  readonly name: string;
  readonly resource: string;
  readonly issuer: string | undefined;
  readonly clientId: Text | undefined;
  readonly clientSecret: Text | MountedFile | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly origin: Origin;
}

/** `userConnections`, as configured and resolved. */
interface UserConnections {
  readonly url: string;
  readonly userClaim: string;
  /** Namespace of the policy in manifests; absent in files. */
  readonly owner?: string;
  readonly servers: readonly ConnectionServer[];
}

const serverFields = {
  name: text("Name of the connection, for `backendAuth.oauth` and the user.", {
    maxLength: 64,
    pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$",
    form: "letters, digits, `-` and `_`",
  }),
  resource: text("URL of the server: the resource of its tokens (RFC 8707).", {
    maxLength: 1024,
    format: "url",
    examples: ["https://mcp.example.com/mcp"],
  }),
  issuer: shortText(
    "Issuer of its authorization server; the first that the server's metadata names by default (RFC 9728).",
    { format: "url" },
  ),
  clientId: shortText(
    "Client id of the gateway there. By default the gateway is known by the URL of its document, or registers itself.",
    { readAtStart: true },
  ),
  scopes: list(
    text("A scope.", {
      maxLength: 256,
      pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$",
      form: "a scope without spaces",
    }),
    {
      maxItems: 64,
      description: "Requested scopes; by default those that the server's metadata names.",
    },
  ),
};

const A_SERVER = "A server whose users connect their accounts.";

const server = object(
  {
    ...serverFields,
    clientSecret: either(
      anyText({ minLength: 1, maxLength: 2048, secret: true }),
      object({ file: text("Path of a file with the secret.") }, { required: ["file"] }),
      {
        description:
          "Client secret, as `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
      },
    ),
  },
  {
    required: ["name", "resource"],
    checks: [needsField("clientSecret", "clientId")],
    description: A_SERVER,
  },
);

const kubernetesServer = object(
  {
    ...serverFields,
    clientSecretRef: secretEntry("A Secret with the client secret.", "clientSecret"),
  },
  {
    required: ["name", "resource"],
    checks: [needsField("clientSecretRef", "clientId")],
    description: A_SERVER,
  },
);

const pageFields = {
  url: text("URL of the page, below which the route also serves.", {
    maxLength: 1024,
    pattern: "^https?://[^/?#]+/[A-Za-z0-9/._~-]*[A-Za-z0-9._~-]$",
    form: "a URL with a path, without a slash at its end",
    examples: ["https://tools.example.com/connect"],
  }),
  userClaim: shortText("Claim that names the user.", { default: DEFAULT_USER_CLAIM }),
};

const OF_PAGE = {
  required: ["url", "servers"],
  description:
    "Serves a page where users connect their accounts at servers, whose tokens the gateway stores and renews (authorization code with PKCE).",
  examples: [
    {
      url: "https://tools.example.com/connect",
      servers: [{ name: "tracker", resource: "https://mcp.example.com/mcp" }],
    },
  ],
} as const;

const ALL_SERVERS = { minItems: 1, maxItems: 64, description: "The servers." };

const schema = object({ ...pageFields, servers: list(server, ALL_SERVERS) }, OF_PAGE);

const kubernetesSchema = object(
  { ...pageFields, servers: list(kubernetesServer, ALL_SERVERS) },
  OF_PAGE,
);

/** Lets users connect their accounts at servers. */
export const userConnections: Policy<
  "userConnections",
  UserConnections,
  UserConnections,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "userConnections",
  summary: "serves a page where users connect their accounts at servers, for `backendAuth.oauth`",
  scope: ["route"],
  traits: {
    actsOn: ["requests"],
    isTerminal: () => true,
    usesStore: () => "records",
    addPrefixes: (_, { url }) => [new URL(url).pathname],
    connections: ({ url, userClaim, owner, servers }) =>
      servers.map(({ name }) => ({
        ...{ name, page: url, claim: userClaim },
        ...(owner !== undefined && { owner }),
      })),
  },
  schema,
  names: ["connections"],
  access: {
    direction: "opens",
    compare: {
      changes: (before, after) =>
        listChanges("connection", namesOf(before), namesOf(after), "opens"),
      rest: ({ servers, ...rest }) => [rest, servers.map(({ origin: _, ...each }) => each)],
    },
  },
  lowering: {
    merge: "replace",
    lower: ({ url, userClaim = DEFAULT_USER_CLAIM, servers }, origin) => ({
      url,
      userClaim,
      servers: servers.map((each, index) => {
        const { clientSecret: secret, ...rest } = each;
        const isText = typeof secret === "string" || (secret !== undefined && "kind" in secret);
        return {
          ...plainServer(rest, origin, index),
          clientSecret:
            secret === undefined || isText ? secret : { kind: "path" as const, file: secret.file },
        };
      }),
    }),
    resolve: (config, context) => {
      if (!hasUser(context)) return undefined;
      const seen = new Set<string>();
      const servers = config.servers.map((each) => {
        const at = childOf(each.origin, "name");
        if (seen.has(each.name)) context.diagnostics.report("duplicate-connection", at, each);
        seen.add(each.name);
        return { ...each, clientSecret: secretOf(each, context) };
      });
      return seen.size < servers.length ? undefined : { ...config, servers };
    },
  },
  kubernetes: {
    field: "traffic.userConnections",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
  },
};

function lowerKubernetes(
  { url, userClaim = DEFAULT_USER_CLAIM, servers }: Infer<typeof kubernetesSchema>,
  { origin, namespace, secretFiles }: KubernetesContext,
): UserConnections {
  return {
    url,
    userClaim,
    owner: namespace,
    servers: servers.map(({ clientSecretRef: secret, ...rest }, index) => {
      const plain = plainServer(rest, origin, index);
      if (secret === undefined) return { ...plain, clientSecret: undefined };
      const { name, key = "clientSecret" } = secret;
      const at = childOf(plain.origin, "clientSecretRef");
      const [file = ""] = secretFiles(name, [key], "clientSecret", at);
      return { ...plain, clientSecret: { kind: "secret", file } };
    }),
  };
}

/** Returns a server without its secret. */
function plainServer(
  {
    name,
    resource,
    issuer,
    clientId,
    scopes,
  }: ObjectValue<typeof serverFields, "name" | "resource">,
  origin: Origin,
  index: number,
): Omit<ConnectionServer, "clientSecret"> {
  const at = childOf(origin, "servers", index);
  return { name, resource, issuer, clientId, scopes, origin: at };
}

function namesOf({ servers }: UserConnections): readonly string[] {
  return servers.map(({ name, resource }) => `${name} of ${resource}`);
}

/** Reports a page that anybody can open. */
function hasUser(context: ResolveContext): boolean {
  const missing = [...absentIdentities(["jwt"], context), ...optionalIdentities(["jwt"], context)];
  for (const { policies } of missing)
    context.diagnostics.report("connection-without-user", context.origin, {
      field: "userConnections",
      policies,
    });
  return missing.length === 0;
}

function secretOf({ clientSecret: secret, origin }: ConnectionServer, context: ResolveContext) {
  const at = childOf(origin, "clientSecret");
  if (secret === undefined) return undefined;
  if (typeof secret === "string" || secret.kind === "env")
    return withoutLiteral(secret, at, { field: '"clientSecret"' }, context);
  if (secret.kind === "path") readWhatIsHere(secret.file, childOf(at, "file"), context);
  return secret;
}
