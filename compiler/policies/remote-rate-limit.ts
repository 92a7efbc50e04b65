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
  checkResult,
  type ExpectedResult,
  type ExpressionConfig,
  resolveExpression,
} from "../backends/parts/expressions.ts";
import { absentIdentities, optionalIdentities } from "../backends/parts/known-identities.ts";
import type { NamedNode } from "../backends/parts/named-expressions.ts";
import { namesFailingWithout } from "../cel/compile.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { backendReference, tinyText } from "../manifests/field-types.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { CompiledExpression, NamedExpression } from "../model/expressions.ts";
import { choice, expression, type Infer, list, object, shortText } from "../schema/schema.ts";
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
import { countsTokens } from "./parts/token-limits.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A limit service and what it counts, as configured. */
interface LimitServiceConfig {
  readonly server: DestinationConfig;
  readonly domain: string;
  readonly descriptors: readonly DescriptorConfig[];
  /** What happens when it can't be reached. */
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** What is counted together, as configured. */
interface DescriptorConfig {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedExpression[];
  readonly cost: ExpressionConfig | undefined;
  readonly limit: ExpressionConfig | undefined;
  readonly origin: Origin;
}

/** A limit service and what it counts. */
interface LimitServiceNode {
  readonly target: CalloutTarget;
  readonly domain: string;
  readonly descriptors: readonly DescriptorNode[];
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** What is counted together. */
export interface DescriptorNode {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedNode[];
  /** What a request counts; of tokens it is evaluated when the response is there. */
  readonly cost: CompiledExpression | undefined;
  /** The limit that holds in the place of the service's own. */
  readonly limit: CompiledExpression | undefined;
}

/** `remoteRateLimit` as configured. */
interface RemoteRateLimitConfig {
  readonly cases: readonly CaseConfig<LimitServiceConfig>[];
}

/** `remoteRateLimit` resolved. */
interface RemoteRateLimitNode {
  readonly cases: readonly CaseNode<LimitServiceNode>[];
}

const costField = expression(
  "How much it counts, a whole number; by default 1, or the tokens of the call when it has ended.",
);

/** What `failureMode` is about, in both forms. */
const UNREACHABLE = "What happens when the service can't be reached.";

const descriptor = object(
  {
    entries: list(
      object(
        { key: shortText("The name."), value: expression("The value; a text.") },
        { required: ["key", "value"] },
      ),
      {
        minItems: 1,
        maxItems: 16,
        description: "What is counted together. When one fails, the descriptor is left out.",
      },
    ),
    type: choice("What is counted.", ["requests", "tokens"], { default: "requests" }),
    cost: costField,
    limitOverride: expression(
      'The limit in the place of the service\'s own: `{"unit": "minute", "requestsPerUnit": 10}`; what is none leaves that.',
    ),
  },
  { required: ["entries"] },
);

const fields = {
  ...serverFields,
  domain: shortText("The domain of the service's limits."),
  descriptors: list(descriptor, {
    minItems: 1,
    maxItems: 16,
    description: "What the service counts; all go in one call, and a request has to pass each.",
  }),
  failureMode: choice(UNREACHABLE, ["failClosed", "failOpen"], { default: "failClosed" }),
  policies: serverPolicies,
};

const rest = {
  exactlyOneOf: [...serverKeys],
  required: ["domain", "descriptors"] as const,
  saidElsewhere: serverWords,
};

const schema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    saidElsewhere: serverWords,
    checks: [
      {
        message: '"domain" and "descriptors" say what is counted',
        holds: (value) => "conditional" in value || ("domain" in value && "descriptors" in value),
        cel: "has(self.conditional) || (has(self.domain) && has(self.descriptors))",
      },
      standsAlone("what is counted", Object.keys(fields)),
    ],
    description: "Limits that a service counts for all gateways (Envoy's rate limit protocol).",
    examples: [
      {
        host: "127.0.0.1:8081",
        domain: "shop",
        descriptors: [{ entries: [{ key: "path", value: "request.path" }] }],
      },
    ],
  },
);

/** `GlobalRateLimit` of the specification. */
const kubernetesSchema = object(
  {
    backendRef: backendReference("The limit service: a Service or a static GatewayBackend."),
    domain: shortText("The domain of the service's limits."),
    failureMode: choice(UNREACHABLE, ["FailClosed", "FailOpen"], { default: "FailClosed" }),
    descriptors: list(
      object(
        {
          entries: list(
            object(
              { name: tinyText("The name."), expression: expression("The value; a text.") },
              { required: ["name", "expression"] },
            ),
            {
              minItems: 1,
              maxItems: 16,
              description: "Names and values, which the service has a limit for.",
            },
          ),
          unit: choice("What is counted.", ["Requests", "Tokens"], { default: "Requests" }),
          cost: costField,
        },
        { required: ["entries"] },
      ),
      { minItems: 1, maxItems: 16, description: "What the service is asked about." },
    ),
  },
  { required: ["backendRef", "domain", "descriptors"] },
);

/** How many requests or tokens pass in a time, counted by a service for all gateways. */
export const remoteRateLimit: Policy<
  "remoteRateLimit",
  RemoteRateLimitConfig,
  RemoteRateLimitNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "remoteRateLimit",
  summary:
    "asks a limit service (Envoy's rate limit protocol), by requests or by tokens of models; 429 beyond",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  aliases: [["rateLimit", "global"]],
  names: ["remoteRateLimit", "countedRequests", "countedTokens"],
  direction: "closes",
  access: () => [{ kind: "outside", what: "refuses requests over a limit", decidesWho: false }],
  compare: calloutComparison("passesOnFailure", ({ passesOnFailure }) => passesOnFailure),
  merge: "replace",
  lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerService) }),
  kubernetes: {
    field: "traffic.rateLimit",
    part: "global",
    schema: kubernetesSchema,
    lower: ({ backendRef, domain, descriptors, failureMode }, context) => {
      const { origin } = context;
      const server = lowerServerReference(backendRef, context);
      if (server === undefined) return undefined;
      const read = descriptors.map(({ entries, unit, cost }, index): DescriptorConfig => {
        const at = childOf(origin, "descriptors", index);
        return {
          unit: unit === "Tokens" ? "tokens" : "requests",
          entries: entries.map(({ name, expression: text }, each) => ({
            name,
            text,
            origin: childOf(at, "entries", each, "expression"),
          })),
          cost: cost === undefined ? undefined : { text: cost, origin: childOf(at, "cost") },
          limit: undefined,
          origin: childOf(at, "unit"),
        };
      });
      const passesOnFailure = failureMode === "FailOpen";
      const value = { server, domain, descriptors: read, passesOnFailure, origin };
      return { cases: [{ condition: undefined, value, origin }] };
    },
    ofConditions: joinCases,
  },
  resolve: ({ cases }, context) => {
    const resolved = resolveCases(cases, context, (each) => resolveService(each, context));
    // What counts tokens has nothing to count where there are no models.
    return resolved?.some(({ value }) => value.descriptors.length > 0) === true
      ? { cases: resolved }
      : undefined;
  },
};

function lowerService(
  given: Omit<Infer<typeof schema>, "conditional">,
  origin: Origin,
): LimitServiceConfig {
  const { domain = "", descriptors = [], failureMode } = given;
  return {
    server: lowerServer(given, origin),
    domain,
    descriptors: descriptors.map((each, index) =>
      lowerDescriptor(each, childOf(origin, "descriptors", index)),
    ),
    passesOnFailure: failureMode === "failOpen",
    origin,
  };
}

function lowerDescriptor(
  { entries, type = "requests", cost, limitOverride }: Infer<typeof descriptor>,
  origin: Origin,
): DescriptorConfig {
  return {
    unit: type,
    entries: entries.map(({ key, value }, index) => ({
      name: key,
      text: value,
      origin: childOf(origin, "entries", index, "value"),
    })),
    cost: cost === undefined ? undefined : { text: cost, origin: childOf(origin, "cost") },
    limit:
      limitOverride === undefined
        ? undefined
        : { text: limitOverride, origin: childOf(origin, "limitOverride") },
    origin: childOf(origin, "type"),
  };
}

function resolveService(
  { server, descriptors, ...rest }: LimitServiceConfig,
  context: ResolveContext,
): LimitServiceNode | undefined {
  const target = resolveGrpcTarget(server, context);
  const acting = descriptors.filter(
    ({ unit, origin }) => unit === "requests" || countsTokens("tokens", origin, context),
  );
  const resolved = acting.flatMap((each) => resolveDescriptor(each, context) ?? []);
  if (target === undefined || resolved.length < acting.length) return undefined;
  reportUnlimited(acting, resolved, context);
  return { ...rest, target, descriptors: resolved };
}

/** What requests may be without that are limited by no descriptor then, and where it is read. */
type WayAround =
  | {
      readonly kind: "stranger";
      readonly variable: string;
      readonly policies: string;
      readonly origin: Origin;
    }
  | { readonly kind: "data"; readonly name: string; readonly origin: Origin };

/** Where each descriptor can be left out, whoever can do that is limited by none. */
function reportUnlimited(
  configs: readonly DescriptorConfig[],
  descriptors: readonly DescriptorNode[],
  context: ResolveContext,
): void {
  const ways = descriptors.map((each, index) => waysAround(configs[index], each, context));
  if (!ways.every((found) => found.length > 0)) return;
  for (const { origin, ...way } of ways.flat()) {
    if (way.kind === "stranger") context.diagnostics.report("limits-no-stranger", origin, way);
    else context.diagnostics.report("limits-who-says-so", origin, way);
  }
}

function waysAround(
  config: DescriptorConfig | undefined,
  { entries }: DescriptorNode,
  context: ResolveContext,
): readonly WayAround[] {
  const ofIdentity = entries.flatMap(({ value }, index): readonly WayAround[] => {
    const [params] = optionalIdentities(value.variables, context);
    const origin = config?.entries[index]?.origin;
    return params === undefined || origin === undefined
      ? []
      : [{ kind: "stranger", ...params, origin }];
  });
  const { cost, unit } = config ?? {};
  const read = [
    ...(config?.entries ?? []),
    ...(cost === undefined || unit === "tokens" ? [] : [cost]),
  ];
  const ofData = read.flatMap(({ text, origin }): readonly WayAround[] =>
    namesFailingWithout(text, "request").map((name) => ({ kind: "data", name, origin })),
  );
  return [...ofIdentity, ...ofData];
}

const COUNT: ExpectedResult = {
  expected: "a whole number from 0",
  isOfType: (type) => ["int", "uint", "double", "string"].includes(type),
  isGood: (value) => /^\d+$/.test(String(value)),
};

const LIMIT: ExpectedResult = {
  expected: 'a limit like {"unit": "minute", "requestsPerUnit": 10}',
  isOfType: (type) => type.startsWith("map("),
};

function resolveDescriptor(
  { unit, entries, cost, limit }: DescriptorConfig,
  context: ResolveContext,
): DescriptorNode | undefined {
  const { diagnostics } = context;
  const values = entries.flatMap((entry): readonly NamedNode[] => {
    const value = resolveExpression(entry, { phase: "request", slot: "value" }, diagnostics);
    if (value === undefined) return [];
    // A value of an identity that nobody establishes: the descriptor is always left out.
    for (const params of absentIdentities(value.variables, context))
      diagnostics.report("limits-nobody", entry.origin, params);
    return [{ name: entry.name, value }];
  });
  const costPhase = unit === "tokens" ? "response" : "request";
  const compiledCost =
    cost && resolveExpression(cost, { phase: costPhase, slot: "value" }, diagnostics);
  const isCost = cost && compiledCost && checkResult(compiledCost, COUNT, cost.origin, diagnostics);
  const compiledLimit =
    limit && resolveExpression(limit, { phase: "request", slot: "value" }, diagnostics);
  const isComplete =
    (cost === undefined) === (compiledCost === undefined) &&
    (limit === undefined) === (compiledLimit === undefined);
  const isLimit =
    limit && compiledLimit && checkResult(compiledLimit, LIMIT, limit.origin, diagnostics);
  if (values.length < entries.length || !isComplete) return undefined;
  if (isCost === false || isLimit === false) return undefined;
  return { unit, entries: values, cost: compiledCost, limit: compiledLimit };
}
