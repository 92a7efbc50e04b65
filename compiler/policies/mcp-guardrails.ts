import type { Phase } from "../../runtime/policies/mcp-guardrails/phases.ts";
import {
  lowerServer,
  lowerServerReference,
  resolveGrpcTarget,
  SERVER_REFERENCES,
  serverFields,
  serverPolicies,
  serverReferenceFields,
  serverWords,
} from "../backends/parts/callout-server.ts";
import type { CalloutTarget } from "../backends/parts/callout-target.ts";
import {
  lowerExpressions,
  type NamedNode,
  resolveOmissible,
} from "../backends/parts/named-expressions.ts";
import { serverKeys } from "../backends/parts/server-name.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { SettingsChange } from "../model/access.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { NamedExpression } from "../model/expressions.ts";
import { shownText } from "../model/texts.ts";
import {
  choice,
  expression,
  type Infer,
  list,
  map,
  object,
  type Schema,
} from "../schema/schema.ts";
import { fileWord, wordsOfForms } from "../schema/two-forms.ts";
import { headerNames } from "./ext-authz/http-fields.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** One server that checks messages, as configured. */
interface ProcessorConfig {
  readonly server: DestinationConfig;
  readonly methods: Readonly<Record<string, Phase>>;
  readonly passesOnFailure: boolean;
  readonly metadata: readonly NamedExpression[];
  /** In lower case; `undefined` for all. */
  readonly allowedHeaders: readonly string[] | undefined;
  readonly disallowedHeaders: readonly string[];
  readonly origin: Origin;
}

/** One server that checks messages, resolved. */
interface ProcessorNode extends Omit<ProcessorConfig, "server" | "metadata"> {
  readonly target: CalloutTarget;
  readonly metadata: readonly NamedNode[];
}

/** `mcpGuardrails` as configured. */
interface McpGuardrailsConfig {
  readonly processors: readonly ProcessorConfig[];
}

/** `mcpGuardrails` resolved. */
interface McpGuardrailsNode {
  readonly processors: readonly ProcessorNode[];
  /** Names of the MCP servers. */
  readonly servers: readonly string[];
  /** Whether clients see names of items with the name of their server before them. */
  readonly hasPrefixes: boolean;
}

const METHODS =
  "Messages to check, by method: a name (`tools/call`), a beginning (`tools/*`), an end (`*/list`) or `*`; the most specific one applies. Other methods are not checked.";

const phases = wordsOfForms("The messages that are checked.", [
  ...(["off", "request", "response", "full"] as const),
]);

function methods<Word>(phase: Schema<Word>) {
  return map(phase, { minProperties: 1, maxProperties: 64, description: METHODS });
}

/** A method's name, its beginning or end, or `*`. */
const PATTERN = /^(?:\*?[^*]+|[^*]+\*|\*)$/;

const metadata = map({ ...expression("The value."), phase: "mcp" } as const, {
  maxProperties: 64,
  description: "Values by name that the server receives as `metadata_context`.",
});

const failure = wordsOfForms(
  "Outcome if the server fails: the message is refused, or continues.",
  ["failClosed", "failOpen"],
  "failClosed",
);

const ALLOWED =
  "Headers that the server receives, including `:path` and other pseudo-headers; all by default.";
const DISALLOWED = "Headers that the server does not receive.";

const LIST = { minItems: 1, maxItems: 16, description: "Servers that check messages, in order." };

const schema = object(
  {
    processors: list(
      object(
        {
          kind: choice("The kind of the processor.", ["remote"], { default: "remote" }),
          methods: methods(phases.file),
          ...serverFields,
          policies: serverPolicies,
          failureMode: failure.file,
          metadata,
          requestHeaders: object(
            { allowed: headerNames(ALLOWED), disallowed: headerNames(DISALLOWED) },
            { description: "Headers of the request that the server receives." },
          ),
        },
        {
          required: ["methods"],
          exactlyOneOf: [...serverKeys],
          misplacedFieldHints: serverWords,
          description: "A gRPC server (`agentgateway.dev.ext_mcp.ExtMcp`).",
        },
      ),
      LIST,
    ),
  },
  {
    required: ["processors"],
    description: "Has servers check, change and refuse requests and results of MCP.",
    examples: [{ processors: [{ host: "127.0.0.1:9000", methods: { "tools/call": "full" } }] }],
  },
);

const kubernetesSchema = object(
  {
    processors: list(
      object(
        {
          remote: object(
            {
              ...serverReferenceFields("The server."),
              failureMode: failure.manifest,
              metadata,
              allowedRequestHeaders: headerNames(ALLOWED),
              disallowedRequestHeaders: headerNames(DISALLOWED),
            },
            {
              exactlyOneOf: [...SERVER_REFERENCES],
              description: "A gRPC server (`agentgateway.dev.ext_mcp.ExtMcp`).",
            },
          ),
          methods: methods(phases.manifest),
        },
        { required: ["remote", "methods"], description: "A server that checks messages." },
      ),
      LIST,
    ),
  },
  {
    required: ["processors"],
    examples: [
      {
        processors: [
          { remote: { backendRef: { name: "guard", port: 9000 } }, methods: { "*": "Full" } },
        ],
      },
    ],
  },
);

/** Has servers check the messages of MCP. */
export const mcpGuardrails: Policy<
  "mcpGuardrails",
  McpGuardrailsConfig,
  McpGuardrailsNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "mcpGuardrails",
  summary: "has gRPC servers check, change and refuse requests and results of MCP methods",
  scope: ["route"],
  traits: {
    actsOn: ["mcp"],
    changesRequest: () => "anything",
  },
  plannedOnBackend: { instead: "write it on the route" },
  schema,
  names: ["guardrails", "guardrailMetadata"],
  access: {
    restrictsAccess: true,
    direction: "closes",
    checks: ({ processors }) =>
      processors.map(({ target, passesOnFailure }) => ({
        kind: "outside",
        what: `the server ${shownText(target.url)} checks messages`,
        decidesWho: true,
        passesOnFailure,
      })),
    compare: { changes: processorChanges, rest: ({ processors }) => processors.map(comparedPart) },
  },
  lowering: {
    merge: "replace",
    lower: ({ processors }, origin) => ({
      processors: processors.map((each, index) =>
        lowerProcessor(each, childOf(origin, "processors", index)),
      ),
    }),
    resolve: ({ processors }, context) => {
      const resolved = processors.flatMap((each) => resolveProcessor(each, context) ?? []);
      if (resolved.length < processors.length) return undefined;
      const { names = [], arePrefixes = false } = context.route.itemTargets ?? {};
      return { processors: resolved, servers: names, hasPrefixes: arePrefixes };
    },
  },
  kubernetes: {
    field: "backend.mcp.guardrails",
    schema: kubernetesSchema,
    lower: ({ processors }, context) => {
      const lowered = processors.flatMap(({ remote, methods: given }, index) => {
        const origin = childOf(context.origin, "processors", index);
        const at = childOf(origin, "remote");
        const server = lowerServerReference(remote, { ...context, origin: at });
        if (server === undefined) return [];
        const {
          metadata: values = {},
          allowedRequestHeaders,
          disallowedRequestHeaders = [],
        } = remote;
        return [
          {
            server,
            methods: Object.fromEntries(
              Object.entries(given).map(([name, phase]) => [name, fileWord(phase)]),
            ),
            passesOnFailure: remote.failureMode === "FailOpen",
            metadata: lowerExpressions(values, childOf(at, "metadata")),
            allowedHeaders: allowedRequestHeaders?.map(inLowerCase),
            disallowedHeaders: disallowedRequestHeaders.map(inLowerCase),
            origin,
          },
        ];
      });
      return lowered.length < processors.length ? undefined : { processors: lowered };
    },
  },
};

function processorChanges(
  { processors: before }: McpGuardrailsNode,
  { processors: after }: McpGuardrailsNode,
): readonly SettingsChange[] {
  const count = after.length - before.length;
  const [direction, word] =
    count < 0 ? (["opens", "removed"] as const) : (["closes", "added"] as const);
  const counted = { direction, text: `processors ${word}: ${Math.abs(count)}` };
  const failures = after.flatMap(({ target, passesOnFailure }, at): readonly SettingsChange[] => {
    const old = before[at];
    if (old === undefined || old.passesOnFailure === passesOnFailure) return [];
    const server = shownText(target.url);
    return passesOnFailure
      ? [{ direction: "opens", text: `if ${server} fails, messages continue` }]
      : [{ direction: "closes", text: `if ${server} fails, messages are refused` }];
  });
  return [...(count === 0 ? [] : [counted]), ...failures];
}

/** Returns the parts of a processor whose changes have no known direction. */
function comparedPart({ origin: _, passesOnFailure: _failure, ...rest }: ProcessorNode) {
  return rest;
}

function lowerProcessor(
  given: Infer<typeof schema>["processors"][number],
  origin: Origin,
): ProcessorConfig {
  const { failureMode, metadata: values = {}, requestHeaders = {} } = given;
  const { allowed, disallowed = [] } = requestHeaders;
  return {
    server: lowerServer(given, origin),
    methods: given.methods,
    passesOnFailure: failureMode === "failOpen",
    metadata: lowerExpressions(values, childOf(origin, "metadata")),
    allowedHeaders: allowed?.map(inLowerCase),
    disallowedHeaders: disallowed.map(inLowerCase),
    origin,
  };
}

function resolveProcessor(
  { server, metadata: values, ...rest }: ProcessorConfig,
  context: ResolveContext,
): ProcessorNode | undefined {
  const target = resolveGrpcTarget(server, context, "a server that speaks gRPC");
  for (const pattern of Object.keys(rest.methods)) {
    if (PATTERN.test(pattern)) continue;
    const params = {
      field: `"${pattern}"`,
      expected: "a method, or a part of one with * at its end",
    };
    context.diagnostics.report(
      "bad-format",
      keyPlace(childOf(rest.origin, "methods", pattern)),
      params,
    );
  }
  const compiled = resolveOmissible(values, "mcp", context);
  return target && compiled && { ...rest, target, metadata: compiled };
}

function inLowerCase(name: string): string {
  return name.toLowerCase();
}
