import type { PartialRules } from "../backends/backend.ts";
import {
  kubernetesRulesSchema,
  lowerKubernetesRules,
  lowerRules,
  type RuleConfig,
  requiredScopes,
  resolveRules,
  rulesOnPaths,
  rulesSchema,
} from "../backends/parts/rules.ts";
import type { NamedScopes } from "../cel/kinds/named-scopes.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { Rule } from "../model/rules.ts";
import { hintFor } from "../schema/hint-for.ts";
import { type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `authorization` as configured. */
interface AuthorizationConfig {
  readonly rules: readonly RuleConfig[];
}

/** `authorization` resolved. */
interface AuthorizationNode {
  readonly rules: readonly Rule[];
  /** `undefined` if none are required. */
  readonly requiredScopes?: NamedScopes | undefined;
  /** Set on one of several backends, so only part of the route's requests are checked. */
  readonly isOfShare?: true;
}

const schema = object(
  { rules: rulesSchema },
  {
    required: ["rules"],
    misplacedFieldHints: hintFor("write it in `rules`: `- EXPRESSION` or `- deny: EXPRESSION`", [
      "allow",
      "deny",
    ]),
    description: "Rules that decide who may send a request.",
  },
);

const ownSchema: typeof schema = {
  ...schema,
  description:
    "Rules for requests to this backend only, evaluated after a backend is chosen and in addition to the rules of the route.",
};

/** Decides who may send a request by CEL rules over the request and the identities established before. */
export const authorization: Policy<
  "authorization",
  AuthorizationConfig,
  AuthorizationNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesRulesSchema>
> = {
  kind: "authorization",
  summary:
    "allows or denies requests by CEL rules over request and identity, with 403 if denied; on a backend, applies to that backend only, after it is chosen",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests", "streams"],
  },
  schema,
  onBackend: { schema: ownSchema, field: "authorization", actsOn: ["forwards"] },
  names: ["authorize", "denied", "verdict", "stepUp", "authorizeForBackend", "deniedByBackend"],
  access: {
    restrictsAccess: true,
    pathRules: ({ rules }) => rulesOnPaths(rules),
    direction: "closes",
    checks: ({ rules, isOfShare }) =>
      isOfShare === true
        ? [
            {
              kind: "outside",
              what: "the chosen backend has rules of its own",
              decidesWho: true,
            },
          ]
        : [{ kind: "rules", phase: "request", rules, targets: undefined }],
    // The solver compares the rules themselves.
    compare: { changes: () => [], rest: () => undefined },
  },
  lowering: {
    checkConnection,
    merge: "join",
    lower: ({ rules }, origin) => ({ rules: lowerRules(rules, origin) }),
    resolve: ({ rules }, context) => {
      const compiled = resolveRules(rules, "request", context);
      if (compiled === undefined) return undefined;
      if (context.isOnBackend !== true)
        return { rules: compiled, requiredScopes: requiredScopes(compiled) };
      return { rules: compiled, ...(context.isOfShare === true && { isOfShare: true }) };
    },
  },
  kubernetes: {
    field: "traffic.authorization",
    schema: kubernetesRulesSchema,
    lower: (value, { origin }) => ({ rules: lowerKubernetesRules(value, origin) }),
    join: (configs) => ({ rules: configs.flatMap(({ rules }) => rules) }),
  },
};

/** Returns rules about part of a route's requests as a use of the policy. */
export function useOfShare({ rules, origin }: PartialRules) {
  const settings: AuthorizationNode = { rules, isOfShare: true };
  return { kind: "authorization", settings, origin } as const;
}

/** For raw connections, only the source is known. */
const KNOWN: readonly string[] = ["source.address", "source.port"];

function checkConnection({ rules }: AuthorizationNode, diagnostics: Diagnostics): void {
  for (const { expression, origin } of rules) {
    const unknown = expression.reads.find((path) => !KNOWN.includes(path.slice(0, 2).join(".")));
    if (unknown === undefined) continue;
    const isOfPolicy = origin.resource?.name.startsWith("GatewayPolicy ") === true;
    diagnostics.report("needs-source", origin, { variable: unknown.join("."), isOfPolicy });
  }
}
