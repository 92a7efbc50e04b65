import type {
  BodyMode,
  ProcessingModes,
} from "../../runtime/policies/ext-proc/processing-modes.ts";
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
  expressionsSchema,
  lowerExpressions,
  type NamedNode,
  resolveOmissible,
} from "../backends/parts/named-expressions.ts";
import { serverKeys } from "../backends/parts/server-name.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { NamedExpression } from "../model/expressions.ts";
import { boolean, expression, type Infer, inPhase, map, object } from "../schema/schema.ts";
import { bothForms, formFields, wordsOfForms } from "../schema/two-forms.ts";
import { calloutComparison } from "./parts/callout-comparison.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionalAlone,
  conditionalSchema,
  joinCases,
  lowerCases,
  resolveCases,
} from "./parts/conditions.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A processor, as configured. */
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

/** A processor, resolved. */
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

const mode = (description: string) => wordsOfForms(description, ["send", "skip"], "send");

const bodyMode = (what: string) =>
  wordsOfForms(
    `How the processor receives the body of a ${what}: not, in chunks that it answers one by one, buffered whole, only the buffered beginning, or in chunks while it streams back its own.`,
    ["none", "streamed", "buffered", "bufferedPartial", "fullDuplexStreamed"],
    "fullDuplexStreamed",
  );

const optionFields = {
  requestHeaderMode: mode("Whether the processor receives the headers of a request."),
  requestBodyMode: bodyMode("request"),
  requestTrailerMode: mode(
    "Whether the processor receives request trailers, which clients may send after a body of unknown length.",
  ),
  responseHeaderMode: mode("Whether the processor receives the headers of a response."),
  responseBodyMode: bodyMode("response"),
  responseTrailerMode: mode(
    "Whether the processor receives response trailers, which HTTP/2 and gRPC servers send after the body.",
  ),
  allowModeOverride: bothForms(
    boolean("Whether the processor may change these modes when it has seen the headers.", {
      default: false,
    }),
  ),
};

const OPTIONS = { description: "Parts of requests and responses that the processor receives." };

const processingOptions = {
  file: object(formFields("file", optionFields), OPTIONS),
  manifest: object(formFields("manifest", optionFields), OPTIONS),
};

const failureMode = wordsOfForms(
  "Outcome if the processor fails. A request is always refused once part of its body has been sent to the processor.",
  ["failClosed", "failOpen"],
  "failClosed",
);

/** Fields with the same schema in both forms. */
const contextFields = {
  metadataContext: map(
    map(expression("CEL expression for the value."), {
      minProperties: 1,
      maxProperties: 64,
      description: "Values of the namespace.",
    }),
    {
      maxProperties: 64,
      description:
        "Objects by namespace, sent in every message. Values of `gwc.dev.grpc_initial_metadata` are sent as metadata of the gRPC call if they are strings, numbers or bools in printable ASCII; others are omitted.",
    },
  ),
  requestAttributes: expressionsSchema("Attributes sent with the request headers."),
  responseAttributes: inPhase(
    "response",
    expressionsSchema("Attributes sent with the response headers."),
  ),
};

const fields = {
  ...serverFields,
  failureMode: failureMode.file,
  ...contextFields,
  processingOptions: processingOptions.file,
  policies: serverPolicies,
};

const rest = { exactlyOneOf: [...serverKeys], misplacedFieldHints: serverWords };

const schema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    misplacedFieldHints: serverWords,
    checks: [conditionalAlone("the processor", Object.keys(fields))],
    description: "Sends requests and responses to an external processor (Envoy's protocol).",
  },
);

/** Schema of the specification's `ExtProc`. */
const kubernetesSchema = object(
  {
    ...serverReferenceFields("The processor: a Service or a static GatewayBackend."),
    failureMode: failureMode.manifest,
    ...contextFields,
    processingOptions: processingOptions.manifest,
  },
  { exactlyOneOf: [...SERVER_REFERENCES] },
);

/** Sends requests and responses to a processor, which may change them or respond itself. */
export const extProc: Policy<
  "extProc",
  ExtProcConfig,
  ExtProcNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "extProc",
  summary:
    "sends requests and responses to an external processor (Envoy's protocol), which may change them; later expressions read its metadata as `extproc`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    variable: "extproc",
    changesRequest: () => "anything",
  },
  schema,
  names: ["extProc", "extProcMetadata", "extProcRequest", "extProcResponse", "shown"],
  access: {
    compare: calloutComparison("passesOnFailure", ({ passesOnFailure }) => passesOnFailure),
  },
  lowering: {
    merge: "replace",
    lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerProcessor) }),
    resolve: ({ cases }, context) => {
      const resolved = resolveCases(cases, context, (each) => resolveProcessor(each, context));
      return resolved && { cases: resolved };
    },
  },
  kubernetes: {
    field: "traffic.extProc",
    schema: kubernetesSchema,
    lower: ({ backendRef, url, failureMode, ...given }, context) => {
      const { origin } = context;
      const server = lowerServerReference({ backendRef, url }, context);
      if (server === undefined) return undefined;
      const value = {
        ...lowerExchange(given, origin),
        server,
        passesOnFailure: failureMode === "FailOpen",
      };
      return { cases: [{ condition: undefined, value, origin }] };
    },
    ofConditions: joinCases,
  },
};

function lowerProcessor(
  given: Omit<Infer<typeof schema>, "conditional">,
  origin: Origin,
): ProcessorConfig {
  return {
    ...lowerExchange(given, origin),
    server: lowerServer(given, origin),
    passesOnFailure: given.failureMode === "failOpen",
  };
}

/** Reads what a processor receives, in the spelling of either form. */
function lowerExchange(
  {
    metadataContext = {},
    processingOptions: options = {},
    ...given
  }: Pick<Infer<typeof schema>, keyof typeof contextFields> & {
    readonly processingOptions?:
      | Infer<typeof processingOptions.file>
      | Infer<typeof processingOptions.manifest>;
  },
  origin: Origin,
): Omit<ProcessorConfig, "server" | "passesOnFailure"> {
  const at = (field: string) => childOf(origin, field);
  return {
    modes: {
      requestHeaders: headerModeOf(options.requestHeaderMode),
      requestBody: bodyModeOf(options.requestBodyMode),
      requestTrailers: headerModeOf(options.requestTrailerMode),
      responseHeaders: headerModeOf(options.responseHeaderMode),
      responseBody: bodyModeOf(options.responseBodyMode),
      responseTrailers: headerModeOf(options.responseTrailerMode),
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

function headerModeOf(mode: string | undefined): ProcessingModes["requestHeaders"] {
  return mode?.toLowerCase() === "skip" ? "skip" : "send";
}

/** Body modes by their names in lower case; fully duplex without a name. */
const BODY_MODES: Readonly<Record<string, BodyMode>> = {
  none: "none",
  streamed: "streamed",
  buffered: "buffered",
  bufferedpartial: "bufferedPartial",
};

function bodyModeOf(mode = ""): BodyMode {
  return BODY_MODES[mode.toLowerCase()] ?? "fullDuplex";
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
    const compiled = resolveOmissible(values, "request", context);
    return compiled === undefined ? [] : [{ namespace, values: compiled }];
  });
  const ofRequest = resolveOmissible(requestAttributes, "request", context);
  const ofResponse = resolveOmissible(responseAttributes, "response", context);
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

/** Reports fields that have no effect because of the other fields. */
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
    report("allowModeOverride", "header messages", childOf(options, "allowModeOverride"));
  if (!seesRequest && requestAttributes.length > 0)
    report("requestAttributes", "request headers that are sent");
  if (!seesResponse && !isOverridden && responseAttributes.length > 0)
    report("responseAttributes", "response headers that are sent");
}

/** Namespaces that are sent as metadata of the call (runtime/policies/ext-proc/call-metadata.ts). */
const CALL_NAMESPACES = ["gwc.dev.grpc_initial_metadata", "agentgateway.dev.grpc_initial_metadata"];

/**
 * Valid names of gRPC metadata (grpc.io, PROTOCOL-HTTP2: Custom-Metadata), and the names that gRPC or HTTP sets
 * itself.
 */
const METADATA_NAME = /^[0-9a-z_.-]+$/i;
const OWN_METADATA =
  /^(?:grpc-.*|te|content-type|content-length|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|host)$/i;

/**
 * Reports names that cannot be gRPC metadata. `-bin` names are refused because their values would have to be
 * encoded.
 */
function checkMetadataName(
  { name, origin }: NamedExpression,
  { diagnostics }: ResolveContext,
): void {
  if (METADATA_NAME.test(name) && !OWN_METADATA.test(name) && !/-bin$/i.test(name)) return;
  const expected =
    'a metadata name such as "x-team", which is neither reserved by gRPC nor binary ("-bin")';
  diagnostics.report("bad-format", keyPlace(origin), { field: `"${name}"`, expected });
}
