import type { NamedScopes } from "../cel/kinds/named-scopes.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { Rule } from "../model/rules.ts";
import { type Infer, object } from "../schema/schema.ts";
import {
  kubernetesRulesSchema,
  lowerKubernetesRules,
  lowerRules,
  type RuleConfig,
  requiredScopes,
  resolveRules,
  rulesOnPaths,
  rulesSchema,
} from "./parts/rules.ts";
import type { Policy } from "./policy.ts";

/** `authorization` as configured. */
interface AuthorizationConfig {
  readonly rules: readonly RuleConfig[];
}

/** `authorization` resolved. */
interface AuthorizationNode {
  readonly rules: readonly Rule[];
  /** Absent: none. */
  readonly requiredScopes?: NamedScopes | undefined;
  /** They stand on one of several backends: not every request of the route meets them. */
  readonly isOfShare?: true;
}

const schema = object(
  { rules: rulesSchema },
  { required: ["rules"], description: "Who may send a request." },
);

const ownSchema: typeof schema = {
  ...schema,
  description:
    "Who may send a request to this backend alone, once it is chosen; after the rules of its route, which hold as well.",
};

/** Who may send a request: CEL rules over the request and the identities that were established before. */
export const authorization: Policy<
  "authorization",
  AuthorizationConfig,
  AuthorizationNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesRulesSchema>
> = {
  kind: "authorization",
  summary:
    "decides by CEL rules over request and identity; a request that they do not allow is answered 403; on one backend of requests that are passed on, for that backend alone, once it is chosen",
  scope: ["listener", "route"],
  actsOn: ["requests", "streams"],
  schema,
  onBackend: { schema: ownSchema, field: "authorization" },
  names: ["authorize", "denied", "verdict", "stepUp", "authorizeForBackend", "deniedByBackend"],
  restrictsAccess: true,
  pathRules: ({ rules }) => rulesOnPaths(rules),
  checkConnection,
  direction: "closes",
  access: ({ rules, isOfShare }) =>
    isOfShare === true
      ? [
          {
            kind: "outside",
            what: "the backend that is chosen has rules of its own",
            decidesWho: true,
          },
        ]
      : [{ kind: "rules", phase: "request", rules, targets: undefined }],
  // Its rules are solved.
  compare: { changes: () => [], rest: () => undefined },
  merge: "join",
  lower: ({ rules }, origin) => ({ rules: lowerRules(rules, origin) }),
  kubernetes: {
    field: "traffic.authorization",
    schema: kubernetesRulesSchema,
    lower: (value, { origin }) => ({ rules: lowerKubernetesRules(value, origin) }),
    join: (configs) => ({ rules: configs.flatMap(({ rules }) => rules) }),
  },
  resolve: ({ rules }, context) => {
    const compiled = resolveRules(rules, "request", context);
    if (compiled === undefined) return undefined;
    if (context.isOnBackend !== true)
      return { rules: compiled, requiredScopes: requiredScopes(compiled) };
    return { rules: compiled, ...(context.isOfShare === true && { isOfShare: true }) };
  },
};

/** Of a connection only its source is known. */
const KNOWN: readonly string[] = ["source.address", "source.port"];

function checkConnection({ rules }: AuthorizationNode, diagnostics: Diagnostics): void {
  for (const { expression, origin } of rules) {
    const unknown = expression.reads.find((path) => !KNOWN.includes(path.slice(0, 2).join(".")));
    if (unknown === undefined) continue;
    const isOfPolicy = origin.resource?.name.startsWith("GatewayPolicy ") === true;
    diagnostics.report("needs-source", origin, { variable: unknown.join("."), isOfPolicy });
  }
}
