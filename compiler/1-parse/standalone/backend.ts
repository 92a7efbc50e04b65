import { PATH_FORM } from "../../schema/path-form.ts";
import {
  choice,
  type Infer,
  integer,
  list,
  object,
  pick,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { ownPoliciesSchema } from "./backend-policies.ts";
import { dynamicSchema } from "./dynamic.ts";

/** A backend as the schema lets it through. */
export type BackendValue = Infer<ReturnType<typeof backendSchema>>;

/** Where requests go. */
export function backendSchema() {
  return object(backendFields(), {
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
  });
}

function backendFields() {
  return {
    mcp: mcpBackendSchema,
    host: text("`host:port` or a URL of a plain HTTP upstream.", { readAtStart: true }),
    weight: integer("Its share of the requests beside the others; 0: none.", 0, 1_000_000, {
      default: 1,
    }),
    policies: ownPoliciesSchema(),
    service: unsupported("mesh services"),
    backend: shortText("The name of one of the file's `backends`."),
    internal: unsupported("internal backends"),
    dynamic: dynamicSchema("request (Host)", "80, or 443 with backendTLS"),
    ai: unsupported("LLM backends"),
    aws: unsupported("AWS backends"),
    routeGroup: unsupported("route groups"),
  };
}

/** An item of the file's `backends` as the schema lets it through. */
export type NamedBackendValue = Infer<ReturnType<typeof namedBackendSchema>>;

/** An item of the file's `backends`. */
export function namedBackendSchema() {
  const kinds = ["mcp", "host", "internal", "ai", "aws"] as const;
  return object(
    {
      name: shortText("What routes call it."),
      ...pick(backendFields(), [...kinds, "policies"]),
    },
    { required: ["name"], exactlyOneOf: kinds },
  );
}

const addressSchema = (what: string, path: string) =>
  object(
    {
      host: text(`URL of the ${what} endpoint, or its host when \`port\` is given.`, {
        maxLength: 1024,
        readAtStart: true,
      }),
      port: integer("The port, when `host` is only a host.", 1, 65535),
      path: text("The path, when `host` is only a host.", {
        maxLength: 1024,
        ...PATH_FORM,
        default: path,
      }),
      backend: unsupported("named backends"),
    },
    { required: ["host"] },
  );

const mcpTargetSchema = object(
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
          { type: "string", readAtStart: true },
          { description: "Its arguments, passed as they are." },
        ),
        env: {
          type: "object",
          additionalProperties: { type: "string", readAtStart: true },
          maxProperties: 64,
          description: "Its environment, besides PATH, HOME and the like.",
        },
        clear_env: unsupported("an empty environment"),
      },
      {
        required: ["cmd"],
        description: "A server that is started as a child process, one for each session.",
      },
    ),
    openapi: unsupported("OpenAPI targets"),
    policies: ownPoliciesSchema(),
  },
  { required: ["name"], exactlyOneOf: ["mcp", "sse", "stdio", "openapi"] },
);

const mcpBackendSchema = object(
  {
    targets: list(mcpTargetSchema, {
      minItems: 1,
      maxItems: 32,
      description: "The MCP servers behind this endpoint.",
    }),
    statefulMode: choice("Whether sessions are kept.", ["stateful"], {
      default: "stateful",
      unsupportedValues: { stateless: "stateless MCP sessions" },
    }),
    prefixMode: choice("When tools carry their target's name.", ["conditional", "always"], {
      default: "conditional",
      unsupportedValues: { never: "tool names without their target" },
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
