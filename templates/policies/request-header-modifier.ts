import { code, literal } from "../code/code.ts";
import { headerChanges } from "../code/header-list.ts";
import { imported, importedType } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/request-header-modifier";

/** `requestHeaderModifier`: the headers that the backend sees. */
export const requestHeaderModifierTemplate: PolicyTemplate<"requestHeaderModifier"> = {
  code: ({ settings, origin }, { trace }) => ({
    declarations: [
      code`
        ${trace(origin)}
        const requestHeaders: ${importedType("gwc/runtime/http/headers/header-modifier", "HeaderModifier")} = ${literal(headerChanges(settings))};
      `,
    ],
    steps: [code`${imported(MODULE, "modifyRequestHeaders")}(exchange, requestHeaders);`],
  }),
};
