import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { type Infer, inPhase, object, type Schema, unsupportedBut } from "../schema/schema.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionalAlone,
  conditionalSchema,
  joinCases,
  lowerCases,
  resolveCases,
} from "./parts/conditions.ts";
import type { ChangedParts, Policy, ResolveContext } from "./policy.ts";
import {
  kubernetesTransformSchema,
  lowerKubernetesTransform,
  lowerTransform,
  resolveTransform,
  type TransformConfig,
  type TransformNode,
  transformSchema,
} from "./transformations/message-transform.ts";

/** Changes to a request and to its response. */
interface Sides<Side> {
  readonly request: Side | undefined;
  readonly response: Side | undefined;
}

/** `transformations` as configured. */
interface TransformationsConfig {
  readonly cases: readonly CaseConfig<Sides<TransformConfig>>[];
}

/** `transformations` resolved. */
interface TransformationsNode {
  readonly cases: readonly CaseNode<Sides<TransformNode>>[];
}

const sides = {
  request: transformSchema(
    "`:method`, `:path`, `:authority`, `:scheme` (unchanged if the expression fails; an invalid value is answered 400)",
    "Changes to the request; on a listener, made before the route is chosen.",
  ),
  response: inPhase("response", transformSchema("`:status`", "Changes to the response.")),
};

const schema = object(
  {
    ...sides,
    conditional: conditionalSchema(object(sides, { atLeastOneOf: ["request", "response"] })),
  },
  {
    atLeastOneOf: ["request", "response", "conditional"],
    checks: [conditionalAlone("the changes", Object.keys(sides))],
    description: "Changes requests and responses.",
  },
);

/**
 * Schema on a backend, without `metadata`, which other policies read, and `:scheme`, which the backend's address
 * determines.
 */
const ownSchema: typeof schema = object(
  { request: withoutMetadata(sides.request), response: withoutMetadata(sides.response) },
  {
    atLeastOneOf: ["request", "response"],
    description:
      "Changes requests to this backend only, after the route's changes, and its responses, before the route's changes.",
  },
);

const kubernetesSchema = object(
  {
    request: kubernetesTransformSchema,
    response: inPhase("response", kubernetesTransformSchema),
  },
  { atLeastOneOf: ["request", "response"] },
);

/** Changes requests and responses by CEL expressions. */
export const transformations: Policy<
  "transformations",
  TransformationsConfig,
  TransformationsNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "transformations",
  summary:
    "sets, adds, removes and replaces headers and bodies of requests and responses, by CEL expressions",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    changesRequest: ({ cases }) => changesIn(cases),
    ownHeaders: ({ cases }) => (cases.length === 1 ? cases : []).flatMap(headersOf),
  },
  schema,
  aliases: [["transformation"]],
  onBackend: {
    schema: ownSchema,
    field: "transformation",
    kubernetesSchema: object(
      {
        request: withoutMetadata(kubernetesTransformSchema),
        response: withoutMetadata(inPhase("response", kubernetesTransformSchema)),
      },
      { atLeastOneOf: ["request", "response"] },
    ),
    actsOn: ["forwards"],
  },
  names: [
    "requestChanges",
    "responseChanges",
    "requestMetadata",
    "responseMetadata",
    "metadata",
    "backendRequestChanges",
    "backendResponseChanges",
  ],
  lowering: {
    merge: "replace",
    lower: (value, origin) => ({
      cases: lowerCases(value, origin, (each, at) => lowerSides(each, at, lowerTransform)),
    }),
    resolve: ({ cases }, context) => {
      const resolved = resolveCases(cases, context, (each, at) =>
        resolveSides(each, { ...context, origin: at }),
      );
      return resolved && { cases: resolved };
    },
  },
  kubernetes: {
    field: "traffic.transformation",
    schema: kubernetesSchema,
    lower: (value, { origin }) => {
      const made = lowerSides(value, origin, lowerKubernetesTransform);
      return { cases: [{ condition: undefined, value: made, origin }] };
    },
    ofConditions: joinCases,
  },
};

function withoutMetadata<Value>(side: Schema<Value>): Schema<Value> {
  const later = unsupportedBut("metadata on a backend", "set it on the route");
  return { ...side, properties: { ...side.properties, metadata: later } };
}

function lowerSides<Value>(
  { request, response }: { readonly request?: Value; readonly response?: Value },
  origin: Origin,
  lower: (side: Value, origin: Origin) => TransformConfig,
): Sides<TransformConfig> {
  return {
    request: request && lower(request, childOf(origin, "request")),
    response: response && lower(response, childOf(origin, "response")),
  };
}

function resolveSides(
  { request, response }: Sides<TransformConfig>,
  context: ResolveContext,
): Sides<TransformNode> | undefined {
  const found = {
    request: request && resolveTransform(request, "request", context),
    response: response && resolveTransform(response, "response", context),
  };
  const isComplete =
    (request === undefined) === (found.request === undefined) &&
    (response === undefined) === (found.response === undefined);
  return isComplete ? found : undefined;
}

/** Returns the parts of a request that any case may change. */
function changesIn(cases: TransformationsNode["cases"]): ChangedParts {
  const requests = cases.flatMap(({ value: { request } }) => request ?? []);
  if (requests.some(({ replace }) => replace !== undefined)) return "anything";
  return requests.flatMap(({ add, set, remove, pseudo }) => [
    ...[...add, ...set].map(({ name }) => name),
    ...remove,
    ...pseudo.map(({ name }) => `:${name}`),
  ]);
}

/** Returns the headers that an unconditional case sets or removes on every request. */
function headersOf({
  condition,
  value: { request },
}: TransformationsNode["cases"][number]): readonly string[] {
  if (condition !== undefined || request === undefined) return [];
  return [...request.set.map(({ name }) => name), ...request.remove];
}
