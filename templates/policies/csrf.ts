import { code, literal } from "../code/code.ts";
import { imported, importedType } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/csrf";

/** `csrf`: one check. */
export const csrfTemplate: PolicyTemplate<"csrf"> = {
  code: ({ settings, origin }, { trace }) => ({
    declarations: [
      code`
        ${trace(origin)}
        const csrf: ${importedType(MODULE, "CsrfSettings")} = ${literal({
          additionalOrigins: code`new Set(${literal(settings.additionalOrigins)})`,
        })};
      `,
    ],
    steps: [code`if (${imported(MODULE, "refuseCrossSite")}(exchange, csrf)) return;`],
  }),
};
