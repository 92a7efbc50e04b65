import {
  boolean,
  choice,
  type Infer,
  integer,
  list,
  map,
  object,
  text,
} from "../../schema/schema.ts";

const texts = (what: string) => list(text(what));

/** Parts of policies that users wrote, by policy and name. */
const parts = map(
  map(
    object(
      { code: text("digest of its code"), settings: text("digest of its settings") },
      { required: ["code", "settings"] },
    ),
  ),
  { description: "custom policies by name; absent without any" },
);

/** Policies of a listener before routing, or of a route. */
const chain = {
  parts,
  policies: map(text("digest of its settings, or `rules` if its rules are all it has"), {
    description: "in request order",
  }),
  identities: list(
    object(
      {
        variable: text("variable in rules: `jwt`"),
        isRequired: boolean("false: anonymous requests continue"),
        proof: text("the proof: `a valid token of https://issuer.example.com`"),
      },
      { required: ["variable", "isRequired", "proof"] },
    ),
    { description: "checked identities, in request order" },
  ),
  rules: list(
    object(
      {
        about: choice("requests, or the items of MCP servers", ["request", "mcp"]),
        action: choice("effect if it is true", ["allow", "deny", "require"]),
        expression: text("as configured"),
        targets: object(
          { names: texts("a server"), isExcluded: boolean("true: all servers except these") },
          {
            required: ["names", "isExcluded"],
            description: "servers to whose items it applies; absent: all servers",
          },
        ),
      },
      { required: ["about", "action", "expression"] },
    ),
  ),
};

const listener = object(
  {
    port: integer("the port", 1, 65535),
    address: text("the address it listens on; absent: all addresses"),
    protocol: choice("protocol of clients", ["http", "https"]),
    hostname: text("`shop.example.com`, `*.example.com` or `*`"),
    ...chain,
  },
  { required: ["port", "protocol", "hostname", "policies", "identities", "rules"] },
);

const route = object(
  {
    name: text("name in logs"),
    listeners: texts("`*:3000`, `shop.example.com:443`"),
    matches: texts("`path prefix /mcp`, after its host name if it needs one"),
    ...chain,
    backends: text("servers, by name and address"),
    targets: texts("a server of an MCP backend"),
  },
  { required: ["name", "listeners", "matches", "policies", "identities", "rules", "backends"] },
);

const connectionRoute = object(
  {
    name: text("name in logs"),
    hostnames: texts("a server name of it, or `*`"),
    policies: texts("a policy, in order"),
    parts,
    backends: text("servers, by name and address"),
  },
  { required: ["name", "hostnames", "policies", "backends"] },
);

const connection = object(
  {
    port: integer("the port", 1, 65535),
    hostname: text("requested server name, or `*`"),
    routes: list(connectionRoute),
    settings: text("digest of all its settings"),
  },
  { required: ["port", "hostname", "routes", "settings"] },
);

/** Listeners, routes and servers of a gateway: the common part of `manifest.json` and a program. */
export const summaryFields = {
  listeners: list(listener),
  routes: list(route),
  connections: list(connection, { description: "ports with passed-on connections" }),
  needs: object(
    { variables: texts("an environment variable"), files: texts("a file") },
    { required: ["variables", "files"], description: "what it needs at start" },
  ),
};

const summary = object(summaryFields, {
  required: ["listeners", "routes", "connections", "needs"],
});

/** Listeners, routes, access rules and servers of a gateway. */
export type GatewaySummary = Infer<typeof summary>;

/** Policies of a listener before routing, or of a route. */
export type ChainSummary = Pick<Infer<typeof route>, "policies" | "parts" | "identities" | "rules">;
