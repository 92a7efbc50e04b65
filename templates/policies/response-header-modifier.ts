import { code, literal } from "../code/code.ts";
import { headerChanges } from "../code/header-list.ts";
import { imported, importedType } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/response-header-modifier";

/** `responseHeaderModifier`: the headers that the client sees. */
export const responseHeaderModifierTemplate: PolicyTemplate<"responseHeaderModifier"> = {
  code: ({ settings, origin }, { trace }) => ({
    declarations: [
      code`
        ${trace(origin)}
        const responseHeaders: ${importedType("gwc/runtime/http/headers/header-modifier", "HeaderModifier")} = ${literal(headerChanges(settings))};
      `,
    ],
    steps: [code`${imported(MODULE, "modifyResponseHeaders")}(exchange, responseHeaders);`],
  }),
};
