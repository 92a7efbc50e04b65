import { type ExpressionConfig, resolveExpression } from "../backends/parts/expressions.ts";
import { childOf, keyPlace } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { expression, type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `sessionAffinity` as configured. */
interface SessionAffinityConfig {
  readonly source: ExpressionConfig;
}

/** `sessionAffinity` resolved. */
interface SessionAffinityNode {
  /** What tells clients, or whatever is to be kept together. */
  readonly source: CompiledExpression;
}

const schema = object(
  {
    source: expression(
      'What is kept together: `request.headers["x-user"]`, `request.headers["cookie"].cookie("id")`, `source.address`, `jwt.sub`. Where it has no value the request goes to any server.',
    ),
  },
  {
    required: ["source"],
    description:
      "Requests for which an expression has the same value go to the same server: of several backends, and of all pods or addresses that a backend's name stands for. When one of n servers leaves, its part moves, 1/n, and nothing else.",
    examples: [{ source: "source.address" }],
  },
);

/** Chooses the server by a hash of what an expression says (rendezvous hashing). */
export const sessionAffinity: Policy<
  "sessionAffinity",
  SessionAffinityConfig,
  SessionAffinityNode,
  Infer<typeof schema>
> = {
  kind: "sessionAffinity",
  summary:
    "sends requests for which an expression has the same value to the same server, by consistent hashing",
  scope: ["route"],
  schema,
  actsOn: ["shares"],
  names: ["affinityKey", "servers", "choice"],
  actsOnCall: true,
  choosesServer: true,
  merge: "replace",
  lower: ({ source }, origin) => ({ source: { text: source, origin: childOf(origin, "source") } }),
  resolve: ({ source }, { route, origin, diagnostics }) => {
    if (route.policies.includes("sessionPersistence")) {
      diagnostics.report("two-server-choices", keyPlace(origin), {});
      return undefined;
    }
    const compiled = resolveExpression(source, { phase: "request", slot: "value" }, diagnostics);
    return compiled && { source: compiled };
  },
};
