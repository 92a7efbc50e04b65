import type { PolicyUse } from "../../compiler/ir.ts";
import { code, imported, importedType, literal } from "../code.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/retry";

/** `retry`: the request is passed on in attempts. */
export const retryTemplate: PolicyTemplate<"retry"> = (
  { settings: { attempts, backoff, codes }, origin },
  { trace, policies },
) => {
  const limits = policies.find((use): use is PolicyUse<"timeout"> => use.kind === "timeout");
  const { request, attempt } = limits?.settings ?? {};
  const value = {
    attempts,
    backoff,
    codes: code`new Set(${literal(codes)})`,
    requestTimeout: request ?? code`undefined`,
    attemptTimeout: attempt ?? code`undefined`,
  };
  return {
    declarations: [
      code`
        ${trace(origin)}
        const retry: ${importedType(MODULE, "RetrySettings")} = ${literal(value)};
      `,
    ],
    steps: [],
    forward: (upstream) =>
      code`${imported(MODULE, "forwardRetrying")}(exchange, ${upstream}, retry)`,
  };
};
