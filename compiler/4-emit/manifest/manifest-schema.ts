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

/** The policies of a listener before routing, or of a route. */
const chain = {
  policies: map(text("a digest of its settings; `rules`: all that it does stands in `rules`"), {
    description: "in request order",
  }),
  identities: list(
    object(
      {
        variable: text("the variable of rules: `jwt`"),
        isRequired: boolean("false: requests of nobody go on"),
        proof: text("what proves it: `a valid token of https://issuer.example.com`"),
      },
      { required: ["variable", "isRequired", "proof"] },
    ),
    { description: "who is looked for, in request order" },
  ),
  rules: list(
    object(
      {
        about: choice("requests, or the items of MCP servers", ["request", "mcp"]),
        action: choice("what it does where it is true", ["allow", "deny", "require"]),
        expression: text("as it is written"),
        targets: object(
          { names: texts("a server"), isExcluded: boolean("all servers but these") },
          {
            required: ["names", "isExcluded"],
            description: "the servers whose items are meant; absent: all of them",
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
    address: text("the one address that it is open on; absent: every one of the machine"),
    protocol: choice("what it speaks", ["http", "https"]),
    hostname: text("`shop.example.com`, `*.example.com` or `*`"),
    ...chain,
  },
  { required: ["port", "protocol", "hostname", "policies", "identities", "rules"] },
);

const route = object(
  {
    name: text("what logs call it"),
    listeners: texts("`*:3000`, `shop.example.com:443`"),
    matches: texts("`path prefix /mcp`, behind the host name that it needs"),
    ...chain,
    backends: text("every server, by name and address"),
    targets: texts("a server of an MCP backend"),
  },
  { required: ["name", "listeners", "matches", "policies", "identities", "rules", "backends"] },
);

const connectionRoute = object(
  {
    name: text("what logs call it"),
    hostnames: texts("a server name that leads to it, or `*`"),
    policies: texts("a policy, in order"),
    backends: text("every server, by name and address"),
  },
  { required: ["name", "hostnames", "policies", "backends"] },
);

const connection = object(
  {
    port: integer("the port", 1, 65535),
    hostname: text("the server name that is asked for, or `*`"),
    routes: list(connectionRoute),
    settings: text("a digest of all of it"),
  },
  { required: ["port", "hostname", "routes", "settings"] },
);

/** What a gateway serves, to whom, and from where: what `manifest.json` and a program have in common. */
export const summaryFields = {
  listeners: list(listener),
  routes: list(route),
  connections: list(connection, { description: "ports whose connections are passed on" }),
  needs: object(
    { variables: texts("an environment variable"), files: texts("a file") },
    { required: ["variables", "files"], description: "what has to be there when it starts" },
  ),
};

const summary = object(summaryFields, {
  required: ["listeners", "routes", "connections", "needs"],
});

/** What a gateway serves, to whom, and from where. */
export type GatewaySummary = Infer<typeof summary>;

/** The policies of a listener before routing, or of a route. */
export type ChainSummary = Pick<Infer<typeof route>, "policies" | "identities" | "rules">;
