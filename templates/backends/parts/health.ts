import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, comment, join, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { returned } from "../../code/layout.ts";
import { milliseconds } from "../../code/units.ts";
import { parameter } from "../../code/variables.ts";

type HealthNode = NonNullable<BackendNode<"host">["health"]>;

/** Writes when a server is ejected, as the runtime expects it; `isUnhealthy`: the function that detects a failure. */
export function healthSettings(node: HealthNode, isUnhealthy: Name | undefined): Printable {
  const { eviction, consecutiveFailures, healthThreshold, restoreHealth, active } = node;
  const { panicThreshold } = node;
  return {
    eviction: milliseconds(eviction),
    consecutiveFailures,
    healthThreshold,
    restoreHealth,
    isUnhealthy,
    active: active && activeSettings(active),
    panicThreshold: panicThreshold === undefined ? undefined : panicThreshold / 100,
  };
}

function activeSettings(active: NonNullable<HealthNode["active"]>): Printable {
  const { interval, timeout, expectedStatuses, ...rest } = active;
  return {
    ...rest,
    interval: milliseconds(interval),
    timeout: milliseconds(timeout),
    expectedStatuses: expectedStatuses && code`new Set(${literal(expectedStatuses)})`,
  };
}

/** Writes the function that detects a failure from the head of a response. */
export function unhealthyFunction(
  id: Name,
  { source, variables, code: emitted }: NonNullable<HealthNode["unhealthy"]>,
  expressions: Expressions,
): Code {
  return code`
    function ${id}(${join(variables.map(parameter), ", ")}): boolean {
      ${comment(source)}
      ${returned(expressions.use(emitted))}
    }
  `;
}
