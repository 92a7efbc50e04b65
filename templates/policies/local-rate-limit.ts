import { code, literal } from "../code/code.ts";
import type { Hole } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { tracedText } from "../code/trace.ts";
import { milliseconds } from "../code/units.ts";
import { valueFunction } from "../code/value-function.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/local-rate-limit";

/** Keys that a limit remembers. */
const MAX_KEYS = 10_000;

/** `localRateLimit`: one check for each limit, its key as a function. */
export const localRateLimitTemplate: PolicyTemplate<"localRateLimit"> = {
  code: ({ settings }, { trace, expressions, variables }) => {
    const declarations: Hole[] = [];
    const steps: Hole[] = [];
    for (const {
      name: label,
      counts,
      capacity,
      refill,
      interval,
      key,
      origin,
    } of settings.limits) {
      const limit = name(label);
      const value = {
        capacity,
        refill,
        interval: milliseconds(interval),
        origin: tracedText(trace, origin),
      };
      if (key === undefined) {
        declarations.push(code`
          ${trace(origin)}
          const ${limit} = ${imported(MODULE, "openRateLimit")}(${literal(value)});
        `);
        const refuse = counts === "tokens" ? "refuseOverTokenLimit" : "refuseOverLimit";
        steps.push(code`if (${imported(MODULE, refuse)}(exchange, ${limit})) return;`);
        continue;
      }
      const caller = valueFunction(
        `key${label.charAt(0).toUpperCase()}${label.slice(1)}`,
        key,
        expressions,
        variables,
      );
      declarations.push(
        code`
          ${trace(origin)}
          const ${limit} = ${imported(MODULE, "openKeyedRateLimit")}(${literal({ ...value, maxKeys: MAX_KEYS })});
        `,
        caller.declaration,
      );
      const refuse = imported(
        MODULE,
        counts === "tokens" ? "refuseOverKeyedTokenLimit" : "refuseOverKeyedLimit",
      );
      steps.push(code`if (${refuse}(exchange, ${limit}, ${caller.call})) return;`);
    }
    const keys = settings.limits.flatMap(({ key }) => key ?? []);
    return { declarations, steps, readsRequestBody: readsBody(keys, "request") };
  },
};
