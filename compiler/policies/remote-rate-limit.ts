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
import {
  checkResult,
  type ExpectedResult,
  type ExpressionConfig,
  resolveExpression,
} from "../backends/parts/expressions.ts";
import {
  absentIdentities,
  reportEarlyIdentity,
  resolveOfRequest,
} from "../backends/parts/known-identities.ts";
import type { NamedNode } from "../backends/parts/named-expressions.ts";
import { serverKeys } from "../backends/parts/server-name.ts";
import type { CelPhase } from "../cel/compile.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { tinyText } from "../manifests/field-types.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { expression, type Infer, inPhase, list, object, shortText } from "../schema/schema.ts";
import { bothForms, fileWord, formFields, wordsOfForms } from "../schema/two-forms.ts";
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
import { countsTokens } from "./parts/token-limits.ts";
import type { Policy, ResolveContext } from "./policy.ts";
import { checkWrittenLimits } from "./remote-rate-limit/limit-override.ts";
import type {
  DescriptorConfig,
  DescriptorNode,
  LimitServiceConfig,
  LimitServiceNode,
} from "./remote-rate-limit/limit-service-config.ts";
import {
  reportCountedBefore,
  reportRepeatedDescriptors,
} from "./remote-rate-limit/repeated-descriptors.ts";
import { reportUnlimited } from "./remote-rate-limit/unlimited.ts";

/** `remoteRateLimit` as configured. */
interface RemoteRateLimitConfig {
  readonly cases: readonly CaseConfig<LimitServiceConfig>[];
}

/** `remoteRateLimit` resolved. */
interface RemoteRateLimitNode {
  readonly cases: readonly CaseNode<LimitServiceNode>[];
}

const entryValue = expression("The value, a string.");

const LIST = { minItems: 1, maxItems: 16 };

const ENTRIES =
  "Keys and values that are counted together. If an expression fails, the descriptor is omitted.";

const unit = wordsOfForms(
  "Unit that is counted: requests, or LLM tokens.",
  ["requests", "tokens"],
  "requests",
);

const cost = inPhase(
  "response",
  expression(
    "Amount to count, a whole number; by default 1, or the tokens of the call once it has ended.",
  ),
);

const limitOverride = expression(
  'Limit that overrides the service\'s own: `{"unit": "minute", "requestsPerUnit": 10}`; ignored if the result is not a limit.',
);

/** Descriptors: keys of entries are named `name` in manifests, their values `expression`, and the type `unit`. */
const descriptors = {
  file: object(
    {
      entries: list(
        object({ key: shortText("The name."), value: entryValue }, { required: ["key", "value"] }),
        { ...LIST, description: ENTRIES },
      ),
      type: unit.file,
      cost,
      limitOverride,
    },
    { required: ["entries"] },
  ),
  manifest: object(
    {
      entries: list(
        object(
          { name: tinyText("The name."), expression: entryValue },
          { required: ["name", "expression"] },
        ),
        { ...LIST, description: ENTRIES },
      ),
      unit: unit.manifest,
      cost,
      limitOverride,
    },
    { required: ["entries"] },
  ),
};

const DESCRIPTORS = {
  ...LIST,
  description: "Descriptors to count, sent in one call; a request must pass all of them.",
};

/** Fields of both forms, which name the service differently. */
const service = {
  domain: bothForms(shortText("The domain of the service's limits.")),
  descriptors: {
    file: list(descriptors.file, DESCRIPTORS),
    manifest: list(descriptors.manifest, DESCRIPTORS),
  },
  failureMode: wordsOfForms(
    "Outcome for a request if the service cannot be reached: refused, or allowed.",
    ["failClosed", "failOpen"],
    "failClosed",
  ),
};

const fields = {
  ...serverFields,
  ...formFields("file", service),
  policies: serverPolicies,
};

const rest = {
  exactlyOneOf: [...serverKeys],
  required: ["domain", "descriptors"] as const,
  misplacedFieldHints: serverWords,
};

const schema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    misplacedFieldHints: serverWords,
    checks: [
      {
        message: '"domain" and "descriptors" are required',
        holds: (value) => "conditional" in value || ("domain" in value && "descriptors" in value),
        cel: "has(self.conditional) || (has(self.domain) && has(self.descriptors))",
      },
      conditionalAlone("the service", Object.keys(fields)),
    ],
    description:
      "Applies limits that a service counts for all gateways (Envoy's rate limit protocol).",
    examples: [
      {
        host: "127.0.0.1:8081",
        domain: "shop",
        descriptors: [{ entries: [{ key: "path", value: "request.path" }] }],
      },
    ],
  },
);

/** Schema of the specification's `GlobalRateLimit`. */
const kubernetesSchema = object(
  {
    ...serverReferenceFields("The limit service: a Service or a static GatewayBackend."),
    ...formFields("manifest", service),
  },
  { required: ["domain", "descriptors"], exactlyOneOf: [...SERVER_REFERENCES] },
);

/** Limits requests or tokens per unit of time, counted by a service for all gateways. */
export const remoteRateLimit: Policy<
  "remoteRateLimit",
  RemoteRateLimitConfig,
  RemoteRateLimitNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "remoteRateLimit",
  summary:
    "limits requests or LLM tokens by asking a limit service (Envoy's rate limit protocol), with 429 beyond",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
  },
  schema,
  aliases: [["rateLimit", "global"]],
  names: ["remoteRateLimit", "countedRequests", "countedTokens"],
  access: {
    direction: "closes",
    checks: () => [{ kind: "outside", what: "refuses requests over a limit", decidesWho: false }],
    compare: calloutComparison("passesOnFailure", ({ passesOnFailure }) => passesOnFailure),
  },
  lowering: {
    checkRepeated: ({ cases }, before, diagnostics) => {
      for (const { value } of cases)
        for (const { value: first } of before.cases) reportCountedBefore(value, first, diagnostics);
    },
    merge: "replace",
    lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerService) }),
    resolve: ({ cases }, context) => {
      const resolved = resolveCases(cases, context, (each) => resolveService(each, context));
      // Without LLM backends, token limits have nothing to count.
      return resolved?.some(({ value }) => value.descriptors.length > 0) === true
        ? { cases: resolved }
        : undefined;
    },
  },
  kubernetes: {
    field: "traffic.rateLimit",
    part: "global",
    schema: kubernetesSchema,
    lower: ({ backendRef, url, domain, descriptors, failureMode }, context) => {
      const { origin } = context;
      const server = lowerServerReference({ backendRef, url }, context);
      if (server === undefined) return undefined;
      const read = descriptors.map(
        ({ entries, unit, cost, limitOverride }, index): DescriptorConfig => {
          const at = childOf(origin, "descriptors", index);
          return {
            unit: fileWord(unit ?? "Requests"),
            entries: entries.map(({ name, expression: text }, each) => ({
              name,
              text,
              origin: childOf(at, "entries", each, "expression"),
            })),
            cost: cost === undefined ? undefined : { text: cost, origin: childOf(at, "cost") },
            limit:
              limitOverride === undefined
                ? undefined
                : { text: limitOverride, origin: childOf(at, "limitOverride") },
            origin: at,
            unitOrigin: childOf(at, "unit"),
          };
        },
      );
      const passesOnFailure = failureMode === "FailOpen";
      const value = { server, domain, descriptors: read, passesOnFailure, origin };
      return { cases: [{ condition: undefined, value, origin }] };
    },
    ofConditions: joinCases,
    idle: ({ cases }) => ({
      cases: cases.map((each) => ({ ...each, value: { ...each.value, descriptors: [] } })),
    }),
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
  { entries, type = "requests", cost, limitOverride }: Infer<typeof descriptors.file>,
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
    origin,
    unitOrigin: childOf(origin, "type"),
  };
}

function resolveService(
  { server, descriptors, ...rest }: LimitServiceConfig,
  context: ResolveContext,
): LimitServiceNode | undefined {
  const target = resolveGrpcTarget(server, context);
  const acting = descriptors.filter(
    ({ unit, unitOrigin }) => unit === "requests" || countsTokens("tokens", unitOrigin, context),
  );
  const resolved = acting.flatMap((each) => resolveDescriptor(each, context) ?? []);
  if (target === undefined || resolved.length < acting.length) return undefined;
  reportUnlimited(acting, resolved, context);
  const placed = resolved.map((each, at) => ({
    ...each,
    origin: acting[at]?.origin ?? rest.origin,
  }));
  reportRepeatedDescriptors(placed, context.diagnostics);
  return { ...rest, target, descriptors: resolved };
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
    const value = resolveCounted(entry, "request", context);
    return value === undefined ? [] : [{ name: entry.name, value }];
  });
  const costPhase = unit === "tokens" ? "response" : "request";
  const compiledCost = cost && resolveCounted(cost, costPhase, context);
  const isCost = cost && compiledCost && checkResult(compiledCost, COUNT, cost.origin, diagnostics);
  const compiledLimit =
    limit && resolveOfRequest(limit, { phase: "request", slot: "value" }, context);
  const isComplete =
    (cost === undefined) === (compiledCost === undefined) &&
    (limit === undefined) === (compiledLimit === undefined);
  const isLimit =
    limit &&
    compiledLimit &&
    checkResult(compiledLimit, LIMIT, limit.origin, diagnostics) &&
    checkWrittenLimits(limit, diagnostics);
  if (values.length < entries.length || !isComplete) return undefined;
  if (isCost === false || isLimit === false) return undefined;
  return { unit, entries: values, cost: compiledCost, limit: compiledLimit };
}

/** Compiles an expression that a descriptor requires; returns `undefined` if it is invalid (reported). */
function resolveCounted(
  config: ExpressionConfig,
  phase: CelPhase,
  context: ResolveContext,
): CompiledExpression | undefined {
  const { diagnostics } = context;
  const value = resolveExpression(config, { phase, slot: "value" }, diagnostics);
  if (value === undefined) return undefined;
  // If no policy establishes the identity, the descriptor would always be omitted.
  for (const params of absentIdentities(value.variables, context))
    diagnostics.report("limits-nobody", config.origin, params);
  if (phase === "request") reportEarlyIdentity(config.origin, value.variables, context);
  return value;
}
