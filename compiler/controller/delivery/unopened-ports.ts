import type { UnopenedPort } from "../../../runtime/discovery/resource-types.ts";
import { recordOf } from "../kubernetes/json-fields.ts";

/** Maximum number of ports of a data plane that are reported, and of characters of each problem. */
const MAX_PORTS = 16;
const MAX_PROBLEM = 200;

/** Reads what a data plane or another replica says of ports that it cannot open. Anything else is ignored. */
export function unopenedPorts(said: unknown): readonly UnopenedPort[] {
  if (!Array.isArray(said)) return [];
  return said.slice(0, MAX_PORTS).flatMap((each: unknown): readonly UnopenedPort[] => {
    const { port, problem } = recordOf(each) ?? {};
    if (typeof port !== "number" || typeof problem !== "string") return [];
    return [{ port, problem: plainLine(problem).slice(0, MAX_PROBLEM) }];
  });
}

/** Returns a caller's text as one line: it goes to logs and statuses, and anybody may be a caller. */
export function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
