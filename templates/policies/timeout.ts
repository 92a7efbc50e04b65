import { code } from "../code/code.ts";
import { imported } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `timeout`: forwards the request with a time limit. */
export const timeoutTemplate: PolicyTemplate<"timeout"> = {
  code: (
    { settings: { request, attempt }, origin },
    { trace, policies, keepsLimits, forwards },
  ) => {
    const kept = keepsLimits ? { limits: { request, attempt } } : {};
    if (!forwards) return { declarations: [], steps: [], ...kept };
    // The settings of a retry contain the limits of its attempts.
    const isShared = policies.some(({ kind }) => kind === "retry");
    const limits = [request, attempt].filter((limit) => limit !== undefined);
    if (isShared || limits.length === 0) return { declarations: [], steps: [], ...kept };
    const within = imported("gwc/runtime/policies/timeout", "forwardWithin");
    return {
      declarations: [
        code`
          ${trace(origin)}
          const timeout = ${milliseconds(Math.min(...limits))};
        `,
      ],
      steps: [],
      ...kept,
      forward: (upstream) => code`${within}(exchange, ${upstream}, timeout)`,
    };
  },
};
