import { code } from "../code/code.ts";
import { imported } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { valueFunction } from "../code/value-function.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `sessionAffinity`: a function that returns the key by which requests stay on one server. */
export const sessionAffinityTemplate: PolicyTemplate<"sessionAffinity"> = {
  code: ({ settings: { source }, origin }, { expressions, variables, trace }) => {
    const key = valueFunction("affinityKey", source, expressions, variables);
    const choose = imported("gwc/runtime/policies/session-affinity", "chooseByKey");
    return {
      declarations: [
        code`
          ${trace(origin)}
          ${key.declaration}
        `,
      ],
      steps: [],
      readsRequestBody: readsBody([source], "request"),
      chooseServer: (servers) => code`${choose}(exchange, ${servers}, ${key.call})`,
    };
  },
};
