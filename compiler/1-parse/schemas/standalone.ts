import { policies } from "../../policies/index.ts";
import {
  choice,
  duration,
  expression,
  integer,
  list,
  notYet,
  object,
  type Schema,
  shortText,
  text,
} from "../../schema.ts";
import { spellingSchemas } from "../policy-spellings.ts";
import { backendPolicySchemas, ownPoliciesSchema } from "./backend-policies.ts";
import { dynamicSchema } from "./dynamic.ts";
import {
  cipherSuitesSchema,
  frontendSchema,
  logFieldsSchema,
  tlsVersionSchema,
} from "./frontend.ts";
import { tcpRouteSchema } from "./tcp-route.ts";

const PATH = { pattern: "^/", form: 'a path that begins with "/"' } as const;

/** The standalone file (`gwc -f FILE`): the whole shape, as `gwc schema` prints it for editors. */
export function standaloneSchema(): Schema {
  return object(
    {
      config: processSchema,
      binds: list(bindSchema(), { minItems: 1, description: "Ports that the gateway listens on." }),
      frontendPolicies: frontendSchema(),
      policies: notYet("policies that are attached to a target by name"),
      backends: list(namedBackendSchema(), {
        minItems: 1,
        description: "Backends with a name, for several routes: `backend: NAME` means them.",
      }),
      services: notYet("mesh services"),
      workloads: notYet("mesh workloads"),
      llm: notYet("the LLM front door"),
      mcp: notYet("the MCP front door"),
      gateways: notYet("named gateways"),
      routes: notYet("routes outside a listener"),
      tcpRoutes: notYet("TCP routes"),
      routeGroups: notYet("route groups"),
      ui: notYet("a protected admin page"),
    },
    {
      required: ["binds"],
      title: "gwc gateway",
      description: "A gateway for MCP, LLM and HTTP traffic.",
    },
  );
}

/** The schema of a route's `policies`. */
export function routePoliciesSchema(): Schema {
  return object(
    {
      ...builtPolicies("route"),
      ...backendPolicySchemas(),
      ...LATER_POLICIES,
    },
    {
      description:
        "What happens to a request before it reaches the backend, in the gateway's fixed order.",
    },
  );
}

/** The schema of a listener's `policies`. */
function listenerPoliciesSchema(): Schema {
  return object(
    {
      ...builtPolicies("listener"),
      ...Object.fromEntries(
        Object.entries(LATER_POLICIES).filter(([key]) => LATER_ON_LISTENERS.includes(key)),
      ),
    },
    {
      description:
        "What happens to every request before its route is chosen; it may change which one that is.",
    },
  );
}

function builtPolicies(scope: "route" | "listener"): Readonly<Record<string, Schema>> {
  const built = policies.filter((policy) => policy.scope.includes(scope));
  return {
    ...Object.fromEntries(built.map((policy) => [policy.kind, policy.schema])),
    ...spellingSchemas(built.map(({ kind }) => kind)),
  };
}

const LATER_POLICIES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries({
    mcpGuardrails: "MCP guardrails",
    oidc: "browser login",
    extAuthz: "external authorization",
    extAuth: "external authorization",
    extProc: "external processing",
    remoteRateLimit: "global rate limits",
    buffer: "buffering",
    delay: "delays",
    a2a: "A2A proxying",
    ai: "LLM policies",
  }).map(([key, what]) => [key, notYet(what)]),
);

/** Those of them that may stand on a listener. */
const LATER_ON_LISTENERS: readonly string[] = [
  "oidc",
  "extAuthz",
  "extAuth",
  "extProc",
  "remoteRateLimit",
];

/** The shape of `config`. */
export const processSchema: Schema = object(
  {
    statsAddr: text("Where metrics are served.", { format: "address", default: "0.0.0.0:15020" }),
    readinessAddr: text("Where readiness is served.", {
      format: "address",
      default: "0.0.0.0:15021",
    }),
    adminAddr: text("Where `gwc run` serves the admin page; a loopback address.", {
      format: "loopback-address",
      default: "127.0.0.1:15000",
    }),
    logging: object(
      {
        format: choice("How access lines are written.", ["text", "json"], { default: "text" }),
        level: {
          type: ["string", "array"],
          items: text("A directive: `warn`, or `request=warn`."),
          minLength: 1,
          description:
            "What is logged, as RUST_LOG says it: `info`, or `info,request=warn,connection=debug`.",
          default: "info",
        },
        filter: expression("Which requests have a line: a CEL expression that is true for them."),
        fields: object(logFieldsSchema(), {
          atLeastOneOf: ["remove", "add"],
          description: "What access lines hold.",
        }),
      },
      { description: "Logging." },
    ),
    connectionMinTerminationDeadline: duration("How long listeners stay open after SIGTERM.", {
      default: "0s",
    }),
    connectionTerminationDeadline: duration(
      "How long streams may end by themselves after SIGTERM.",
      { default: "5s" },
    ),
    ...Object.fromEntries(
      [
        "tracing",
        "metrics",
        "backend",
        "hbone",
        "dns",
        "enableIpv6",
        "workerThreads",
        "database",
        "storage",
      ]
        .concat([
          "modelCatalog",
          "mcp",
          "session",
          "sensitiveHeaders",
          "customFunctions",
          "standardAttributes",
        ])
        .map((key) => [key, notYet(`config.${key}`)]),
    ),
  },
  { description: "Settings of the process." },
);

function bindSchema(): Schema {
  return object(
    {
      port: integer("The TCP port.", 1, 65535),
      listeners: list(listenerSchema(), {
        minItems: 1,
        description: "Who answers on the port, by host name.",
      }),
      tunnelProtocol: notYet("tunnel protocols"),
      mode: notYet("internal binds"),
    },
    { required: ["port", "listeners"] },
  );
}

function listenerSchema(): Schema {
  return object(
    {
      name: shortText("What logs call it."),
      namespace: notYet("listener namespaces"),
      hostname: shortText(
        "Which host it answers: exact, or with a first label `*`. Every host by default.",
        {
          format: "hostname",
        },
      ),
      protocol: choice(
        "What it speaks. TCP and TLS pass connections on; TLS without a certificate stays between client and backend.",
        ["HTTP", "HTTPS", "TLS", "TCP"],
        { default: "HTTP", notYetValues: { HBONE: "HBONE tunnels" } },
      ),
      tls: object(
        {
          cert: text(
            "Path of the certificate chain (PEM), read when the gateway starts and when it changes.",
          ),
          key: text(
            "Path of the private key (PEM), read when the gateway starts and when it changes.",
          ),
          root: text(
            "Path of the authorities (PEM) that sign client certificates: every client must show one. Read like `cert`.",
          ),
          mode: notYet("certificates made on the fly"),
          cipherSuites: cipherSuitesSchema(),
          minTLSVersion: tlsVersionSchema("The lowest TLS version. 1.2 by default."),
          maxTLSVersion: tlsVersionSchema("The highest TLS version. 1.3 by default."),
          keyExchangeGroups: notYet("a choice of key exchange groups"),
          spiffe: notYet("SPIFFE certificates"),
        },
        {
          required: ["cert", "key"],
          description: "TLS that ends here: of an HTTPS or TLS listener.",
        },
      ),
      routes: list(routeSchema(), { description: "What it answers." }),
      tcpRoutes: list(tcpRouteSchema(routePoliciesSchema()), {
        description: "Where connections of a TCP or TLS listener go.",
      }),
      policies: listenerPoliciesSchema(),
    },
    {},
  );
}

function routeSchema(): Schema {
  return object({
    name: shortText("What logs, metrics and generated code call it."),
    namespace: notYet("route namespaces"),
    ruleName: notYet("rule names"),
    hostnames: list(
      shortText("A host name, exact or with a first label `*`.", { format: "hostname" }),
      {
        minItems: 1,
        description: "Which hosts it answers; every host of the listener by default.",
      },
    ),
    matches: list(matchSchema, {
      minItems: 1,
      description: "Which requests it answers: any of these. Every path by default.",
    }),
    policies: routePoliciesSchema(),
    backends: list(backendSchema(), {
      maxItems: 32,
      description: "Where requests go: one backend, or several plain HTTP ones by weight.",
    }),
  });
}

const valueMatchSchema: Schema = object(
  {
    name: shortText("The name."),
    value: object(
      {
        exact: { type: "string", maxLength: 4096, description: "The value, exactly." },
        regex: text("An RE2 pattern that the whole value matches.", { maxLength: 1024 }),
      },
      { exactlyOneOf: ["exact", "regex"] },
    ),
  },
  { required: ["name", "value"] },
);

const matchSchema: Schema = object({
  path: object(
    {
      exact: shortText("This path.", { maxLength: 1024, ...PATH }),
      pathPrefix: shortText("This path and everything below it, by whole segments.", {
        maxLength: 1024,
        ...PATH,
      }),
      regex: text("An RE2 pattern that the whole path matches.", { maxLength: 1024 }),
    },
    { exactlyOneOf: ["exact", "pathPrefix", "regex"] },
  ),
  method: shortText("The method.", {
    pattern: "^[A-Z]+$",
    form: 'a method in capital letters, such as "GET"',
  }),
  headers: list(valueMatchSchema, { maxItems: 16, description: "All of these headers." }),
  query: list(valueMatchSchema, { maxItems: 16, description: "All of these query parameters." }),
});

function backendSchema(): Schema {
  return object(
    {
      mcp: mcpBackendSchema,
      host: text("`host:port` or a URL of a plain HTTP upstream.", { late: true }),
      weight: integer("Its share of the requests beside the others; 0: none.", 0, 1_000_000, {
        default: 1,
      }),
      policies: ownPoliciesSchema(),
      service: notYet("mesh services"),
      backend: shortText("The name of one of the file's `backends`."),
      internal: notYet("internal backends"),
      dynamic: dynamicSchema("request (Host)", "80, or 443 with backendTLS"),
      ai: notYet("LLM backends"),
      aws: notYet("AWS backends"),
      routeGroup: notYet("route groups"),
    },
    {
      exactlyOneOf: [
        "mcp",
        "host",
        "service",
        "backend",
        "internal",
        "dynamic",
        "ai",
        "aws",
        "routeGroup",
      ],
    },
  );
}

/** An item of the file's `backends`. */
function namedBackendSchema(): Schema {
  const kinds = ["mcp", "host", "internal", "ai", "aws"];
  const { properties = {} } = backendSchema();
  const kept = Object.entries(properties).filter(([key]) => [...kinds, "policies"].includes(key));
  return object(
    { name: shortText("What routes call it."), ...Object.fromEntries(kept) },
    { required: ["name"], exactlyOneOf: kinds },
  );
}

const addressSchema = (what: string, path: string): Schema =>
  object(
    {
      host: text(`URL of the ${what} endpoint, or its host when \`port\` is given.`, {
        maxLength: 1024,
        late: true,
      }),
      port: integer("The port, when `host` is only a host.", 1, 65535),
      path: text("The path, when `host` is only a host.", {
        maxLength: 1024,
        ...PATH,
        default: path,
      }),
      backend: notYet("named backends"),
    },
    { required: ["host"] },
  );

const mcpTargetSchema: Schema = object(
  {
    name: shortText("The target's name: the prefix of its tools when there are several. No `_`.", {
      maxLength: 64,
      pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
      form: 'letters, digits, "-" and ".", such as "my-tools"',
    }),
    mcp: addressSchema("streamable HTTP", "/mcp"),
    sse: addressSchema("legacy SSE", "/sse"),
    stdio: object(
      {
        cmd: text("The command, found on PATH; started without a shell."),
        args: list(
          { type: "string", late: true },
          { description: "Its arguments, passed as they are." },
        ),
        env: {
          type: "object",
          additionalProperties: { type: "string", late: true },
          maxProperties: 64,
          description: "Its environment, besides PATH, HOME and the like.",
        },
        clear_env: notYet("an empty environment"),
      },
      {
        required: ["cmd"],
        description: "A server that is started as a child process, one for each session.",
      },
    ),
    openapi: notYet("OpenAPI targets"),
    policies: ownPoliciesSchema(),
  },
  { required: ["name"], exactlyOneOf: ["mcp", "sse", "stdio", "openapi"] },
);

const mcpBackendSchema: Schema = object(
  {
    targets: list(mcpTargetSchema, {
      minItems: 1,
      maxItems: 32,
      description: "The MCP servers behind this endpoint.",
    }),
    statefulMode: choice("Whether sessions are kept.", ["stateful"], {
      default: "stateful",
      notYetValues: { stateless: "stateless MCP sessions" },
    }),
    prefixMode: choice("When tools carry their target's name.", ["conditional", "always"], {
      default: "conditional",
      notYetValues: { never: "tool names without their target" },
    }),
    failureMode: choice("What a broken target does to the others.", ["failClosed", "failOpen"], {
      default: "failClosed",
    }),
  },
  {
    required: ["targets"],
    description: "An MCP endpoint (streamable HTTP) in front of one or more servers.",
  },
);
