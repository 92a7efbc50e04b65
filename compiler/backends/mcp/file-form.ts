import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { withScheme } from "../../model/host-url.ts";
import { type AddressOrName, serverAddressOf } from "../../model/server-address.ts";
import type { Text } from "../../model/texts.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
import {
  anyText,
  boolean,
  either,
  type Infer,
  integer,
  list,
  listOfParts,
  map,
  object,
  type Schema,
  shortText,
  text,
} from "../../schema/schema.ts";
import { needsField } from "../../schema/value-checks.ts";
import type { LowerContext } from "../backend.ts";
import type { BackendPoliciesValue } from "../parts/policies-schema.ts";
import { serverNameSchema } from "../parts/server-name.ts";
import { appLimitsSchema, lowerAppLimits } from "./app-limits.ts";
import type { McpConfig, McpTargetConfig } from "./mcp-config.ts";
import { eraWords, prefixWords, sessionMode, TARGETS, targetFailureMode } from "./mcp-fields.ts";
import { lowerViews, viewsSchema } from "./mcp-views.ts";
import { lowerSessions, sessionsSchemas } from "./sessions.ts";
import { lowerToolSearch, toolSearchSchema } from "./tool-search.ts";
import { lowerToolViews, toolViewsSchema } from "./tool-views.ts";

const TARGET_EXAMPLE = { name: "tools", mcp: { host: "http://127.0.0.1:3001/mcp" } };

/** Returns the schema of `mcp` in a standalone file. */
export function mcpSchema(policies: Schema<BackendPoliciesValue>) {
  return object(mcpFields(policies), {
    required: ["targets"],
    misplacedFieldHints: {
      name: "remove it: only entries of `backends` and `targets` have names",
      servers: "write targets: [{ name: NAME, mcp: { host: URL } }]",
    },
    examples: [{ targets: [TARGET_EXAMPLE] }],
    description: "An MCP endpoint (streamable HTTP) in front of one or more servers.",
  });
}

/** Returns the fields of `mcp` in a standalone file. */
export function mcpFields(policies: Schema<BackendPoliciesValue>) {
  return {
    targets: listOfParts(targetSchema(policies), {
      maxItems: 32,
      description: TARGETS,
    }),
    statefulMode: sessionMode.file,
    prefixMode: prefixWords.file,
    failureMode: targetFailureMode.file,
    sessions: sessionsSchemas.file,
    toolLock: text(
      "File of approved tools, prompts and resources, relative to this file; written by `gwc lock`. Items that are not in it or have changed since are hidden from clients.",
      { maxLength: 1024, examples: ["gwc.lock.yaml"] },
    ),
    toolSearch: toolSearchSchema,
    tools: toolViewsSchema,
    views: viewsSchema,
    apps: appLimitsSchema,
  };
}

const ADDRESS = "write mcp: { host: http://127.0.0.1:3001/mcp }";
const COMMAND = 'write stdio: { cmd: npx, args: ["-y", "@scope/server@1.0.0"] }';
const ITEMS =
  'restrict items with `mcpAuthorization` on the route: mcp.tool.target == "a" && mcp.tool.name in ["x", "y"]';
const CREDENTIAL =
  'write the credential of the gateway next to `name`: policies: { backendAuth: { key: "${NAME}" } }';

/** Hints for fields that people expect in a target, from the server lists of MCP clients. */
const targetWords = {
  ...{
    url: ADDRESS,
    host: ADDRESS,
    type: ADDRESS,
    transport: ADDRESS,
    http: ADDRESS,
    streamableHttp: ADDRESS,
  },
  ...{ command: COMMAND, args: COMMAND, env: COMMAND },
  ...{ tools: ITEMS, allowedTools: ITEMS, toolFilter: ITEMS },
  ...{ headers: CREDENTIAL, apiKey: CREDENTIAL, token: CREDENTIAL },
};

function targetSchema(policies: Schema<BackendPoliciesValue>) {
  return object(
    {
      name: shortText(
        "Name of the target, used as prefix of its tools if there are several targets. Cannot contain `_`.",
        {
          maxLength: 64,
          pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
          form: 'letters, digits, "-" and ".", such as "my-tools"',
          declares: "server",
        },
      ),
      era: eraWords.file,
      mcp: addressSchema("streamable HTTP", "/mcp"),
      sse: addressSchema("legacy SSE", "/sse"),
      stdio: object(
        {
          cmd: text("Command to start, looked up in PATH and run without a shell."),
          args: list(anyText({ readAtStart: true }), {
            description: "Arguments, passed unchanged.",
          }),
          env: map(anyText({ readAtStart: true }), {
            maxProperties: 64,
            description: "Environment variables, in addition to PATH, HOME and similar ones.",
          }),
          cwd: text(
            "Folder in which the command runs, as an absolute path or relative to the folder of the gateway's process, which is the default. A relative path in `cmd` starts there, too.",
            { maxLength: 4096, readAtStart: true },
          ),
          clear_env: boolean(
            "Whether `env` is the whole environment. Then PATH is missing too, so give `cmd` as a path or set PATH in `env`.",
            { default: false },
          ),
        },
        {
          required: ["cmd"],
          examples: [{ cmd: "npx", args: ["-y", "@scope/server@1.0.0"] }],
          description: "An MCP server that is started as a child process, one per session.",
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
          message: '"era" cannot be combined with "sse": SSE servers always have sessions',
          field: "era",
          holds: ({ era, sse }) => sse === undefined || era === undefined,
          cel: "!has(self.sse) || !has(self.era)",
        },
        {
          message: '"era" cannot be combined with "openapi", which is not an MCP server',
          field: "era",
          holds: ({ era, openapi }) => openapi === undefined || era === undefined,
          cel: "!has(self.openapi) || !has(self.era)",
        },
      ],
      examples: [TARGET_EXAMPLE],
      misplacedFieldHints: targetWords,
      description: "An MCP server.",
    },
  );
}

const DOCUMENT_FILE = "save the document and write schema: { file: PATH }";

function openApiSchema() {
  return object(
    {
      schema: either(
        object(
          {
            file: text(
              "Path of the document, relative to this file; read when the gateway is built.",
            ),
            url: text(
              "URL of the document. `gwc lock` fetches it to the folder `gwc.openapi` next to this file, which builds read, so that they are reproducible.",
              { format: "url", maxLength: 2048 },
            ),
          },
          { exactlyOneOf: ["file", "url"] },
        ),
        anyText({ minLength: 2, hasDollarSigns: true }),
        {
          examples: [{ file: "openapi.json" }],
          description:
            "OpenAPI document (3.0 or 3.1, JSON or YAML): `{file: PATH}`, `{url: URL}`, or the document inline. Each operation becomes a tool.",
        },
      ),
      host: text("Address of the API: `host:port`, a URL, or only its host if `port` is set.", {
        maxLength: 1024,
        readAtStart: true,
        examples: ["127.0.0.1:8080"],
      }),
      port: integer("Port, if `host` is only a host.", 1, 65535),
      path: text("Base path of the operations, instead of that of the document's server.", {
        maxLength: 1024,
        ...PATH_FORM,
      }),
      backend: serverNameSchema,
    },
    {
      required: ["schema"],
      exactlyOneOf: ["host", "backend"],
      checks: [needsField("port", "host")],
      misplacedFieldHints: {
        url: "write it in `schema`: { url: URL }",
        spec: DOCUMENT_FILE,
        document: DOCUMENT_FILE,
        file: DOCUMENT_FILE,
        ...hintFor("write host: URL, the server of the API", [
          ...["baseUrl", "server", "serverUrl", "upstream"],
        ]),
      },
      examples: [{ schema: { file: "openapi.json" }, host: "127.0.0.1:8080" }],
      description:
        "An HTTP API whose operations become tools; calling a tool sends a request to the API.",
    },
  );
}

function addressSchema(what: string, path: string) {
  return object(
    {
      host: text(
        `Address of the ${what} endpoint: a URL, \`host:port\`, or only its host if \`port\` is set.`,
        {
          maxLength: 1024,
          readAtStart: true,
          examples: [`http://127.0.0.1:3001${path}`],
        },
      ),
      port: integer("Port, if `host` is only a host.", 1, 65535),
      path: text("Path, if `host` is only a host or `backend` names one.", {
        maxLength: 1024,
        ...PATH_FORM,
        default: path,
      }),
      backend: serverNameSchema,
    },
    {
      exactlyOneOf: ["host", "backend"],
      misplacedFieldHints: { headers: CREDENTIAL, apiKey: CREDENTIAL, token: CREDENTIAL },
      checks: [
        needsField("port", "host"),
        {
          message: '"path" requires "port" or "backend"',
          field: "path",
          holds: ({ path, port, backend }) =>
            path === undefined || port !== undefined || backend !== undefined,
          cel: "!has(self.path) || has(self.port) || has(self.backend)",
        },
      ],
      examples: [{ host: `http://127.0.0.1:3001${path}` }],
      description: `An MCP server with the ${what} transport.`,
    },
  );
}

/** Value of `mcp`, as validated by its schema. */
export type McpValue = Infer<ReturnType<typeof mcpSchema>>;

type TargetValue = NonNullable<McpValue["targets"][number]>;

/** Converts a validated `mcp` to canonical form. */
export function lowerMcp(
  {
    targets,
    statefulMode,
    prefixMode = "conditional",
    failureMode = "failClosed",
    sessions,
    toolLock,
    toolSearch,
    tools,
    views,
    apps,
  }: McpValue,
  context: LowerContext,
): McpConfig {
  return {
    isStateful: statefulMode !== "stateless",
    targets: targets.flatMap((target, index) => {
      if (target === undefined) return [];
      return lowerTarget(target, childOf(context.origin, "targets", index), context) ?? [];
    }),
    isEmptyAsWritten: targets.length === 0,
    prefixMode,
    failureMode,
    sessions: lowerSessions(sessions, childOf(context.origin, "sessions")),
    toolLock:
      toolLock === undefined
        ? undefined
        : { file: toolLock, origin: childOf(context.origin, "toolLock") },
    toolSearch: lowerToolSearch(toolSearch, childOf(context.origin, "toolSearch")),
    toolViews: lowerToolViews(tools, childOf(context.origin, "tools")),
    views: lowerViews(views, childOf(context.origin, "views")),
    apps: lowerAppLimits(apps),
  };
}

function lowerTarget(
  { name, era, mcp, sse, stdio, openapi, policies }: TargetValue,
  origin: Origin,
  context: LowerContext,
): McpTargetConfig | undefined {
  const at = childOf(origin, "policies");
  const target = {
    name,
    era: era === "auto" ? undefined : era,
    policies: context.policies(policies, at),
    own: policies && { value: policies, origin: at },
    origin,
  };
  if (stdio !== undefined) {
    const {
      cmd: command,
      args = [],
      env = {},
      cwd,
      clear_env: isEnvironmentCleared = false,
    } = stdio;
    return { ...target, kind: "stdio", command, args, env, cwd, isEnvironmentCleared };
  }
  if (openapi !== undefined) {
    const { schema, host = "", port, path: basePath } = openapi;
    const document =
      typeof schema === "string"
        ? { text: schema }
        : schema.url === undefined
          ? { file: schema.file ?? "" }
          : { url: schema.url };
    const address = port === undefined ? serverAddressOf(openapi) : withRest(host, `:${port}`);
    return { ...target, kind: "openapi", document, address, basePath };
  }
  if (sse !== undefined) return { ...target, kind: "sse", ...addressOf(sse, "/sse") };
  return mcp && { ...target, kind: "streamable", ...addressOf(mcp, "/mcp") };
}

function addressOf(
  { host = "", port, path, backend }: Infer<ReturnType<typeof addressSchema>>,
  defaultPath: string,
): { readonly url: AddressOrName; readonly path?: string | undefined } {
  if (backend !== undefined) return { url: { kind: "named", name: backend }, path };
  return { url: addressUrl({ host, port, path }, defaultPath) };
}

/** Returns the URL of an endpoint. Without `port`, `host` is a URL, or `host:port` with the default path. */
function addressUrl(
  {
    host,
    port,
    path,
  }: { readonly host: Text; readonly port: number | undefined; readonly path: string | undefined },
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
