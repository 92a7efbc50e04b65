import { code } from "../code/code.ts";
import { imported } from "../code/names.ts";
import { bytes } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `a2a`: one call, which reads requests as a whole. */
export const a2aTemplate: PolicyTemplate<"a2a"> = {
  code: ({ origin }, { trace, maxBufferSize }) => ({
    declarations: [],
    steps: [
      code`
        ${trace(origin)}
        ${imported("gwc/runtime/policies/a2a", "proxyAgent")}(exchange, ${bytes(maxBufferSize)});
      `,
    ],
    readsRequestBody: true,
  }),
};
