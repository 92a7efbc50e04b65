import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { withScheme } from "../../model/host-url.ts";
import type { Text } from "../../model/texts.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
import {
  anyText,
  boolean,
  choice,
  duration,
  either,
  type Infer,
  integer,
  list,
  listOfParts,
  map,
  needsField,
  object,
  type Schema,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import type { LowerContext } from "../backend.ts";
import type { BackendPoliciesValue } from "../parts/policies-schema.ts";
import type { McpConfig, McpTargetConfig } from "./mcp-config.ts";
import { ERA, SESSIONS_KEPT } from "./mcp-config.ts";
import { IDLE_TIMEOUT, lowerSessions, sessionsSchema } from "./sessions.ts";

const TARGET_EXAMPLE = { name: "tools", mcp: { host: "http://127.0.0.1:3001/mcp" } };

/** The shape of `mcp` in a standalone file. */
export function mcpSchema(policies: Schema<BackendPoliciesValue>) {
  return object(mcpFields(policies), {
    required: ["targets"],
    examples: [{ targets: [TARGET_EXAMPLE] }],
    description: "An MCP endpoint (streamable HTTP) in front of one or more servers.",
  });
}

/** The fields of `mcp` in a standalone file. */
export function mcpFields(policies: Schema<BackendPoliciesValue>) {
  return {
    targets: listOfParts(targetSchema(policies), {
      minItems: 1,
      maxItems: 32,
      description: "The MCP servers behind this endpoint.",
    }),
    statefulMode: choice(SESSIONS_KEPT, ["stateful", "stateless"], { default: "stateful" }),
    prefixMode: choice("When tools carry their target's name.", ["conditional", "always"], {
      default: "conditional",
      unsupportedValues: { never: "tool names without their target" },
    }),
    failureMode: choice("What a broken target does to the others.", ["failClosed", "failOpen"], {
      default: "failClosed",
    }),
    sessions: sessionsSchema(duration(IDLE_TIMEOUT, { minimumDuration: "1s" })),
    toolLock: text(
      "File of approved tools, prompts and resources, relative to this one; `gwc lock` writes it. What is not in it, or says something else than when it was locked, is withheld.",
      { maxLength: 1024, examples: ["gwc.lock.yaml"] },
    ),
  };
}

const ADDRESS = "write mcp: { host: http://127.0.0.1:3001/mcp }";
const COMMAND = 'write stdio: { cmd: npx, args: ["-y", "@scope/server@1.0.0"] }';
const ITEMS =
  '`mcpAuthorization` of the route says who may use which: mcp.tool.target == "a" && mcp.tool.name in ["x", "y"]';
const CREDENTIAL =
  'a credential of the gateway stands beside `name`: policies: { backendAuth: { key: "${NAME}" } }';

/** What people look for beside the name of a target, as clients' lists of servers have it. */
const targetWords = {
  ...{ url: ADDRESS, type: ADDRESS, transport: ADDRESS, http: ADDRESS, streamableHttp: ADDRESS },
  ...{ command: COMMAND, args: COMMAND, env: COMMAND },
  ...{ tools: ITEMS, allowedTools: ITEMS, toolFilter: ITEMS },
  ...{ headers: CREDENTIAL, apiKey: CREDENTIAL, token: CREDENTIAL },
};

function targetSchema(policies: Schema<BackendPoliciesValue>) {
  return object(
    {
      name: shortText(
        "The target's name: the prefix of its tools when there are several. No `_`.",
        {
          maxLength: 64,
          pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
          form: 'letters, digits, "-" and ".", such as "my-tools"',
        },
      ),
      era: choice(ERA, ["auto", "sessions", "stateless"], { default: "auto" }),
      mcp: addressSchema("streamable HTTP", "/mcp"),
      sse: addressSchema("legacy SSE", "/sse"),
      stdio: object(
        {
          cmd: text("The command, found on PATH; started without a shell."),
          args: list(anyText({ readAtStart: true }), {
            description: "Its arguments, passed as they are.",
          }),
          env: map(anyText({ readAtStart: true }), {
            maxProperties: 64,
            description: "Its environment, besides PATH, HOME and the like.",
          }),
          clear_env: boolean(
            "Whether `env` is its whole environment: not even PATH is added, so `cmd` is a path then, or `env` has PATH.",
            { default: false },
          ),
        },
        {
          required: ["cmd"],
          misplacedFieldHints: {
            cwd: "it runs in the gateway's own folder: give `cmd` and `args` whole paths",
          },
          examples: [{ cmd: "npx", args: ["-y", "@scope/server@1.0.0"] }],
          description: "A server that is started as a child process, one for each session.",
        },
      ),
      openapi: openApiSchema(),
      policies,
    },
    {
      required: ["name"],
      exactlyOneOf: ["mcp", "sse", "stdio", "openapi"],
      checks: [
        {
          message: '"era" is no question beside "sse": such servers have sessions',
          field: "era",
          holds: ({ era, sse }) => sse === undefined || era === undefined,
          cel: "!has(self.sse) || !has(self.era)",
        },
        {
          message: "an HTTP API speaks no revision of MCP",
          field: "era",
          holds: ({ era, openapi }) => openapi === undefined || era === undefined,
          cel: "!has(self.openapi) || !has(self.era)",
        },
      ],
      examples: [TARGET_EXAMPLE],
      misplacedFieldHints: targetWords,
      description: "One MCP server.",
    },
  );
}

const DOCUMENT_FILE = "save the document, and write schema: { file: PATH }";

function openApiSchema() {
  return object(
    {
      schema: either(
        object(
          {
            file: text("Path of the document, relative to this file; it is read at build."),
            url: unsupported("documents that are fetched; save it, and name the file"),
          },
          { exactlyOneOf: ["file", "url"] },
        ),
        anyText({ minLength: 2 }),
        {
          examples: [{ file: "openapi.json" }],
          description:
            "The OpenAPI document (3.0 or 3.1, JSON or YAML): `{file: PATH}`, or its text. Each operation is a tool.",
        },
      ),
      host: text("`host:port` or a URL of the API, or its host when `port` is given.", {
        maxLength: 1024,
        readAtStart: true,
        examples: ["127.0.0.1:8080"],
      }),
      port: integer("The port, when `host` is only a host.", 1, 65535),
      path: text(
        "What its paths are put below, in the place of the path of the document's server.",
        {
          maxLength: 1024,
          ...PATH_FORM,
        },
      ),
      backend: unsupported("named backends"),
    },
    {
      required: ["schema", "host"],
      misplacedFieldHints: {
        url: DOCUMENT_FILE,
        spec: DOCUMENT_FILE,
        document: DOCUMENT_FILE,
        file: DOCUMENT_FILE,
      },
      examples: [{ schema: { file: "openapi.json" }, host: "127.0.0.1:8080" }],
      description: "An HTTP API: its operations are tools, and a call of one is a request to it.",
    },
  );
}

function addressSchema(what: string, path: string) {
  return object(
    {
      host: text(
        `URL of the ${what} endpoint, \`host:port\`, or its host when \`port\` is given.`,
        {
          maxLength: 1024,
          readAtStart: true,
          examples: [`http://127.0.0.1:3001${path}`],
        },
      ),
      port: integer("The port, when `host` is only a host.", 1, 65535),
      path: text("The path, when `host` is only a host.", {
        maxLength: 1024,
        ...PATH_FORM,
        default: path,
      }),
      backend: unsupported("named backends"),
    },
    {
      required: ["host"],
      misplacedFieldHints: { headers: CREDENTIAL, apiKey: CREDENTIAL, token: CREDENTIAL },
      checks: [needsField("path", "port")],
      examples: [{ host: `http://127.0.0.1:3001${path}` }],
      description: `A server that is reached over ${what}.`,
    },
  );
}

/** `mcp` as its schema lets it through. */
export type McpValue = Infer<ReturnType<typeof mcpSchema>>;

type TargetValue = NonNullable<McpValue["targets"][number]>;

/** The canonical form of a validated `mcp`. */
export function lowerMcp(
  {
    targets,
    statefulMode,
    prefixMode = "conditional",
    failureMode = "failClosed",
    sessions,
    toolLock,
  }: McpValue,
  context: LowerContext,
): McpConfig {
  return {
    isStateful: statefulMode !== "stateless",
    targets: targets.flatMap((target, index) => {
      if (target === undefined) return [];
      return lowerTarget(target, childOf(context.origin, "targets", index), context) ?? [];
    }),
    prefixMode,
    failureMode,
    sessions: lowerSessions(sessions, childOf(context.origin, "sessions")),
    toolLock:
      toolLock === undefined
        ? undefined
        : { file: toolLock, origin: childOf(context.origin, "toolLock") },
  };
}

function lowerTarget(
  { name, era, mcp, sse, stdio, openapi, policies }: TargetValue,
  origin: Origin,
  context: LowerContext,
): McpTargetConfig | undefined {
  const own = context.policies(policies, childOf(origin, "policies"));
  const target = { name, era: era === "auto" ? undefined : era, policies: own, origin };
  if (stdio !== undefined) {
    const { cmd: command, args = [], env = {}, clear_env: isEnvironmentCleared = false } = stdio;
    return { ...target, kind: "stdio", command, args, env, isEnvironmentCleared };
  }
  if (openapi !== undefined) {
    const { schema, host, port, path: basePath } = openapi;
    const document = typeof schema === "string" ? { text: schema } : { file: schema.file ?? "" };
    const address = port === undefined ? host : withRest(host, `:${port}`);
    return { ...target, kind: "openapi", document, address, basePath };
  }
  if (sse !== undefined) return { ...target, kind: "sse", url: addressUrl(sse, "/sse") };
  return mcp && { ...target, kind: "streamable", url: addressUrl(mcp, "/mcp") };
}

/** `host` alone is the endpoint's URL, or `host:port` of a server with the default path; with a port it is only a host. */
function addressUrl(
  { host, port, path }: Infer<ReturnType<typeof addressSchema>>,
  defaultPath: string,
): Text {
  if (port === undefined) {
    if (typeof host !== "string" || !/^[^/\s]+:\d+(\/|$)/.test(host)) return host;
    return withScheme(host.includes("/") ? host : `${host}${defaultPath}`);
  }
  return withScheme(withRest(host, `:${port}${path ?? defaultPath}`));
}

function withRest(host: Text, rest: string): Text {
  return typeof host === "string"
    ? `${host}${rest}`
    : { kind: "env", parts: [...host.parts, rest] };
}
