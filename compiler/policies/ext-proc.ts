import type {
  BodyMode,
  ProcessingModes,
} from "../../runtime/policies/ext-proc/processing-modes.ts";
import {
  lowerServer,
  lowerServerReference,
  resolveGrpcTarget,
  serverFields,
  serverKeys,
  serverPolicies,
  serverWords,
} from "../backends/parts/callout-server.ts";
import type { CalloutTarget } from "../backends/parts/callout-target.ts";
import {
  expressionsSchema,
  lowerExpressions,
  type NamedNode,
  resolveExpressions,
} from "../backends/parts/named-expressions.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { backendReference } from "../manifests/field-types.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { NamedExpression } from "../model/expressions.ts";
import { boolean, choice, expression, type Infer, map, object } from "../schema/schema.ts";
import { calloutComparison } from "./parts/callout-comparison.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionalSchema,
  joinCases,
  lowerCases,
  resolveCases,
  standsAlone,
} from "./parts/conditions.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A processor as configured. */
interface ProcessorConfig {
  readonly server: DestinationConfig;
  readonly passesOnFailure: boolean;
  readonly modes: ProcessingModes;
  readonly allowsModeOverride: boolean;
  readonly metadata: readonly {
    readonly namespace: string;
    readonly values: readonly NamedExpression[];
  }[];
  readonly requestAttributes: readonly NamedExpression[];
  readonly responseAttributes: readonly NamedExpression[];
  readonly origin: Origin;
}

/** A processor. */
interface ProcessorNode {
  readonly target: CalloutTarget;
  readonly passesOnFailure: boolean;
  readonly modes: ProcessingModes;
  readonly allowsModeOverride: boolean;
  readonly metadata: readonly {
    readonly namespace: string;
    readonly values: readonly NamedNode[];
  }[];
  readonly requestAttributes: readonly NamedNode[];
  readonly responseAttributes: readonly NamedNode[];
  readonly origin: Origin;
}

/** `extProc` as configured. */
interface ExtProcConfig {
  readonly cases: readonly CaseConfig<ProcessorConfig>[];
}

/** `extProc` resolved. */
interface ExtProcNode {
  readonly cases: readonly CaseNode<ProcessorNode>[];
}

const headerMode = (what: string) =>
  choice(`Whether the processor gets the head of a ${what}.`, ["send", "skip"], {
    default: "send",
  });

const bodyMode = (what: string) =>
  choice(
    `How it gets the body of a ${what}: not at all, piece by piece with a response to each, whole, its beginning, or piece by piece while it sends its own.`,
    ["none", "streamed", "buffered", "bufferedPartial", "fullDuplexStreamed"],
    { default: "fullDuplexStreamed" },
  );

/** What `failureMode` is about, in both forms. */
const FAILURE =
  "What happens when the processor fails; requests of whose body it has got something are refused in any case.";

const fields = {
  ...serverFields,
  failureMode: choice(FAILURE, ["failClosed", "failOpen"], { default: "failClosed" }),
  metadataContext: map(
    map(expression("A CEL expression: the value."), {
      minProperties: 1,
      maxProperties: 64,
      description: "The values of a namespace.",
    }),
    {
      maxProperties: 64,
      description:
        "Objects by namespace, in every message. Those of `gwc.dev.grpc_initial_metadata` are metadata of the call: texts, numbers and bools in printable ASCII; others are left out.",
    },
  ),
  requestAttributes: expressionsSchema("Attributes of the request, in the first message."),
  responseAttributes: expressionsSchema(
    "Attributes of the response, in the message with its head.",
  ),
  processingOptions: object(
    {
      requestHeaderMode: headerMode("request"),
      requestBodyMode: bodyMode("request"),
      requestTrailerMode: choice(
        "Whether the processor gets the trailers of a request, which clients send behind a body of unknown length.",
        ["send", "skip"],
        { default: "send" },
      ),
      responseHeaderMode: headerMode("response"),
      responseBodyMode: bodyMode("response"),
      responseTrailerMode: choice(
        "Whether the processor gets the trailers of a response, which servers of HTTP/2 and gRPC send behind its body.",
        ["send", "skip"],
        { default: "send" },
      ),
      allowModeOverride: boolean("True: the processor may change what it gets after the head.", {
        default: false,
      }),
    },
    { description: "What the processor gets." },
  ),
  policies: serverPolicies,
};

const rest = { exactlyOneOf: [...serverKeys], misplacedFieldHints: serverWords };

const schema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    misplacedFieldHints: serverWords,
    checks: [standsAlone("who processes", Object.keys(fields))],
    description:
      "Shows requests and responses to a processor (Envoy's external processing protocol).",
  },
);

/** `ExtProc` of the specification. */
const kubernetesSchema = object(
  {
    backendRef: backendReference("The processor: a Service or a static GatewayBackend."),
    failureMode: choice(FAILURE, ["FailClosed", "FailOpen"], { default: "FailClosed" }),
  },
  { required: ["backendRef"] },
);

/** Shows requests and responses to a processor, which may change them or respond itself. */
export const extProc: Policy<
  "extProc",
  ExtProcConfig,
  ExtProcNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "extProc",
  summary:
    "shows requests and responses to a processor (Envoy's external processing protocol), which may change them; what it sets is `extproc` in later expressions",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  names: ["extProc", "extProcMetadata", "extProcRequest", "extProcResponse", "shown"],
  variable: "extproc",
  changesRequest: () => "anything",
  compare: calloutComparison("passesOnFailure", ({ passesOnFailure }) => passesOnFailure),
  merge: "replace",
  lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerProcessor) }),
  kubernetes: {
    field: "traffic.extProc",
    schema: kubernetesSchema,
    lower: ({ backendRef, failureMode }, context) => {
      const { origin } = context;
      const server = lowerServerReference(backendRef, context);
      if (server === undefined) return undefined;
      const passesOnFailure = failureMode === "FailOpen";
      const value = { ...lowerProcessor({}, origin), server, passesOnFailure };
      return { cases: [{ condition: undefined, value, origin }] };
    },
    ofConditions: joinCases,
  },
  resolve: ({ cases }, context) => {
    const resolved = resolveCases(cases, context, (each) => resolveProcessor(each, context));
    return resolved && { cases: resolved };
  },
};

function lowerProcessor(
  given: Omit<Infer<typeof schema>, "conditional">,
  origin: Origin,
): ProcessorConfig {
  const { processingOptions: options = {}, metadataContext = {} } = given;
  const at = (field: string) => childOf(origin, field);
  return {
    server: lowerServer(given, origin),
    passesOnFailure: given.failureMode === "failOpen",
    modes: {
      requestHeaders: options.requestHeaderMode ?? "send",
      requestBody: bodyModeOf(options.requestBodyMode),
      requestTrailers: options.requestTrailerMode ?? "send",
      responseHeaders: options.responseHeaderMode ?? "send",
      responseBody: bodyModeOf(options.responseBodyMode),
      responseTrailers: options.responseTrailerMode ?? "send",
    },
    allowsModeOverride: options.allowModeOverride ?? false,
    metadata: Object.entries(metadataContext).map(([namespace, values]) => ({
      namespace,
      values: lowerExpressions(values, childOf(at("metadataContext"), namespace)),
    })),
    requestAttributes: lowerExpressions(given.requestAttributes, at("requestAttributes")),
    responseAttributes: lowerExpressions(given.responseAttributes, at("responseAttributes")),
    origin,
  };
}

function bodyModeOf(
  mode: Exclude<BodyMode, "fullDuplex"> | "fullDuplexStreamed" = "fullDuplexStreamed",
): BodyMode {
  return mode === "fullDuplexStreamed" ? "fullDuplex" : mode;
}

function resolveProcessor(
  { server, metadata, requestAttributes, responseAttributes, ...rest }: ProcessorConfig,
  context: ResolveContext,
): ProcessorNode | undefined {
  reportIdle({ requestAttributes, responseAttributes, ...rest }, context);
  const target = resolveGrpcTarget(server, context);
  const objects = metadata.flatMap(({ namespace, values }) => {
    if (CALL_NAMESPACES.includes(namespace))
      for (const each of values) checkMetadataName(each, context);
    const compiled = resolveExpressions(values, "request", context);
    return compiled === undefined ? [] : [{ namespace, values: compiled }];
  });
  const ofRequest = resolveExpressions(requestAttributes, "request", context);
  const ofResponse = resolveExpressions(responseAttributes, "response", context);
  if (target === undefined || objects.length < metadata.length) return undefined;
  if (ofRequest === undefined || ofResponse === undefined) return undefined;
  return {
    ...rest,
    target,
    metadata: objects,
    requestAttributes: ofRequest,
    responseAttributes: ofResponse,
  };
}

/** What is configured and never sent. */
function reportIdle(
  {
    modes,
    allowsModeOverride,
    requestAttributes,
    responseAttributes,
    origin,
  }: Omit<ProcessorConfig, "server" | "metadata" | "passesOnFailure">,
  { diagnostics }: ResolveContext,
): void {
  const options = childOf(origin, "processingOptions");
  const report = (field: string, actsOn: string, at = childOf(origin, field)) =>
    diagnostics.report("idle-callout-field", keyPlace(at), { field, actsOn });
  if (Object.values(modes).every((mode) => mode === "skip" || mode === "none"))
    diagnostics.report("nothing-processed", keyPlace(options), {});
  const seesRequest = modes.requestHeaders === "send";
  const seesResponse = modes.responseHeaders === "send";
  const isOverridden = allowsModeOverride && (seesRequest || seesResponse);
  if (allowsModeOverride && !isOverridden)
    report("allowModeOverride", "what is said of heads", childOf(options, "allowModeOverride"));
  if (!seesRequest && requestAttributes.length > 0)
    report("requestAttributes", "heads of requests that are sent");
  if (!seesResponse && !isOverridden && responseAttributes.length > 0)
    report("responseAttributes", "heads of responses that are sent");
}

/** What stands there goes as metadata of the call (runtime/policies/ext-proc/call-metadata.ts). */
const CALL_NAMESPACES = ["gwc.dev.grpc_initial_metadata", "agentgateway.dev.grpc_initial_metadata"];

/** Names that metadata of a call may have (grpc.io, PROTOCOL-HTTP2: Custom-Metadata), and those that it has already. */
const METADATA_NAME = /^[0-9a-z_.-]+$/i;
const OWN_METADATA =
  /^(?:grpc-.*|te|content-type|content-length|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|host)$/i;

/** A value of bytes would have to be encoded. */
function checkMetadataName(
  { name, origin }: NamedExpression,
  { diagnostics }: ResolveContext,
): void {
  if (METADATA_NAME.test(name) && !OWN_METADATA.test(name) && !/-bin$/i.test(name)) return;
  const expected =
    'a name of metadata such as "x-team": none of gRPC\'s own, and none of bytes ("-bin")';
  diagnostics.report("bad-format", keyPlace(origin), { field: `"${name}"`, expected });
}
