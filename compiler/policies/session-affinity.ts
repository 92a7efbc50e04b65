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
  /** Value that identifies a client, or any other group of requests. */
  readonly source: CompiledExpression;
}

const schema = object(
  {
    source: expression(
      'Value that identifies a client: `request.headers["x-user"]`, `request.headers["cookie"].cookie("id")`, `source.address`, `jwt.sub`. Requests for which it fails go to any server.',
    ),
  },
  {
    required: ["source"],
    description:
      "Sends requests with the same value of an expression to the same server, chosen among several backends and all pods or addresses of a backend's name. If one of n servers is removed, only its share of 1/n moves.",
    examples: [{ source: "source.address" }],
  },
);

/** Chooses the server by a hash of an expression's value (rendezvous hashing). */
export const sessionAffinity: Policy<
  "sessionAffinity",
  SessionAffinityConfig,
  SessionAffinityNode,
  Infer<typeof schema>
> = {
  kind: "sessionAffinity",
  summary:
    "sends requests with the same value of an expression to the same server, by consistent hashing",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["shares"],
    actsOnCall: true,
    choosesServer: true,
  },
  names: ["affinityKey", "servers", "choice"],
  lowering: {
    merge: "replace",
    lower: ({ source }, origin) => ({
      source: { text: source, origin: childOf(origin, "source") },
    }),
    resolve: ({ source }, { route, origin, diagnostics }) => {
      if (route.policies.includes("sessionPersistence")) {
        diagnostics.report("two-server-choices", keyPlace(origin), {});
        return undefined;
      }
      const compiled = resolveExpression(source, { phase: "request", slot: "value" }, diagnostics);
      return compiled && { source: compiled };
    },
  },
};
