import { code } from "../code/code.ts";
import { imported } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { milliseconds } from "../code/units.ts";
import { valueFunction } from "../code/value-function.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `delay`: waits before the request continues. */
export const delayTemplate: PolicyTemplate<"delay"> = {
  code: ({ settings: { duration }, origin }, { trace, expressions, variables }) => {
    const run = imported("gwc/runtime/policies/delay", "delayRequest");
    if (typeof duration === "number") {
      return {
        declarations: [
          code`
            ${trace(origin)}
            const delay = ${milliseconds(duration)};
          `,
        ],
        steps: [code`if (!(await ${run}(exchange, delay))) return;`],
        isAsync: true,
      };
    }
    const made = valueFunction("requestDelay", duration, expressions, variables);
    return {
      declarations: [
        code`
          ${trace(origin)}
          ${made.declaration}
        `,
      ],
      steps: [code`if (!(await ${run}(exchange, ${made.call}))) return;`],
      isAsync: true,
      readsRequestBody: readsBody([duration], "request"),
    };
  },
};
