import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { type Infer, object, type Schema, unsupportedBut } from "../schema/schema.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionalSchema,
  joinCases,
  lowerCases,
  resolveCases,
  standsAlone,
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

/** Changes to a request, and to its response. */
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
    "`:method`, `:path`, `:authority`, `:scheme` (these stay where the expression fails; a value that they cannot have is a 400)",
    "Changes to the request; on a listener before its route is chosen.",
  ),
  response: transformSchema("`:status`", "Changes to the response."),
};

const schema = object(
  {
    ...sides,
    conditional: conditionalSchema(object(sides, { atLeastOneOf: ["request", "response"] })),
  },
  {
    atLeastOneOf: ["request", "response", "conditional"],
    checks: [standsAlone("what changes", Object.keys(sides))],
    description: "Changes to requests and responses.",
  },
);

/** What is said to one backend needs no name by which others read it, and asks nothing of the request's scheme. */
const ownSchema: typeof schema = object(
  { request: withoutMetadata(sides.request), response: withoutMetadata(sides.response) },
  {
    atLeastOneOf: ["request", "response"],
    description:
      "Changes to the requests that this backend alone gets, after those that its route makes, and to its responses, before those.",
  },
);

const kubernetesSchema = object(
  { request: kubernetesTransformSchema, response: kubernetesTransformSchema },
  { atLeastOneOf: ["request", "response"] },
);

/** Changes to requests and responses, by CEL expressions over what they are. */
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
  actsOn: ["requests"],
  schema,
  aliases: [["transformation"]],
  onBackend: { schema: ownSchema, field: "transformation" },
  names: [
    "requestChanges",
    "responseChanges",
    "requestMetadata",
    "responseMetadata",
    "metadata",
    "backendRequestChanges",
    "backendResponseChanges",
  ],
  changesRequest: ({ cases }) => changesIn(cases),
  ownHeaders: ({ cases }) => (cases.length === 1 ? cases : []).flatMap(headersOf),
  merge: "replace",
  lower: (value, origin) => ({
    cases: lowerCases(value, origin, (each, at) => lowerSides(each, at, lowerTransform)),
  }),
  kubernetes: {
    field: "traffic.transformation",
    schema: kubernetesSchema,
    lower: (value, { origin }) => {
      const made = lowerSides(value, origin, lowerKubernetesTransform);
      return { cases: [{ condition: undefined, value: made, origin }] };
    },
    ofConditions: joinCases,
  },
  resolve: ({ cases }, context) => {
    const resolved = resolveCases(cases, context, (each, at) =>
      resolveSides(each, { ...context, origin: at }),
    );
    return resolved && { cases: resolved };
  },
};

function withoutMetadata<Value>(side: Schema<Value>): Schema<Value> {
  const later = unsupportedBut("values for others on a backend", "say them on the route");
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

/** What of a request its forms may change. */
function changesIn(cases: TransformationsNode["cases"]): ChangedParts {
  const requests = cases.flatMap(({ value: { request } }) => request ?? []);
  if (requests.some(({ replace }) => replace !== undefined)) return "anything";
  return requests.flatMap(({ add, set, remove, pseudo }) => [
    ...[...add, ...set].map(({ name }) => name),
    ...remove,
    ...pseudo.map(({ name }) => `:${name}`),
  ]);
}

/** The headers that one form of it says of every request, or takes away; on a condition it does so of some alone. */
function headersOf({
  condition,
  value: { request },
}: TransformationsNode["cases"][number]): readonly string[] {
  if (condition !== undefined || request === undefined) return [];
  return [...request.set.map(({ name }) => name), ...request.remove];
}
