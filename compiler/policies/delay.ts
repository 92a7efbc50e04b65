import { checkResult } from "../backends/parts/expressions.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import {
  lowerTimeSpan,
  type TimeSpanConfig,
  timeSpanResult,
  timeSpanSchema,
} from "../backends/parts/time-span.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `delay` as configured. */
interface DelayConfig {
  readonly duration: TimeSpanConfig;
}

/** `delay` resolved: milliseconds, or the expression that computes the delay. */
interface DelayNode {
  readonly duration: number | CompiledExpression;
}

const schema = object(
  {
    duration: timeSpanSchema(
      "How long requests wait: a duration (`2s`), or a CEL expression for a duration or a number of milliseconds (`random() < 0.1 ? 2000 : 0`). A request does not wait if the result is not positive or the expression fails. Timeouts of the route start after the delay.",
    ),
  },
  {
    required: ["duration"],
    description: "Delays requests, to test how clients deal with slow responses.",
    examples: [{ duration: "2s" }],
  },
);

/** Delays requests (fault injection). */
export const delay: Policy<
  "delay",
  DelayConfig,
  DelayNode,
  Infer<typeof schema>,
  Infer<typeof schema>
> = {
  kind: "delay",
  summary: "delays requests, always or by an expression, to inject faults",
  scope: ["route"],
  traits: {
    actsOn: ["requests"],
  },
  schema,
  names: ["delay", "requestDelay"],
  lowering: {
    merge: "replace",
    lower: lowerDelay,
    resolve: ({ duration }, context) => {
      if (typeof duration === "number") {
        if (duration > 0) return { duration };
        const params = { field: '"duration"', bound: "must be at least 1ms" };
        context.diagnostics.report("out-of-range", childOf(context.origin, "duration"), params);
        return undefined;
      }
      const compiled = resolveOfRequest(duration, { phase: "request", slot: "value" }, context);
      if (compiled === undefined) return undefined;
      return checkResult(compiled, SPAN, duration.origin, context.diagnostics)
        ? { duration: compiled }
        : undefined;
    },
  },
  kubernetes: {
    field: "traffic.delay",
    schema,
    lower: (value, { origin }) => lowerDelay(value, origin),
  },
};

const SPAN = timeSpanResult("a duration or a number of milliseconds", ["int", "uint", "double"]);

function lowerDelay({ duration }: Infer<typeof schema>, origin: Origin): DelayConfig {
  return { duration: lowerTimeSpan(duration, childOf(origin, "duration")) };
}
