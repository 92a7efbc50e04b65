import { code, imported, importedType, literal } from "../code.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/direct-response";

/** `directResponse`: ends the route. */
export const directResponseTemplate: PolicyTemplate<"directResponse"> = (
  { settings, origin },
  { trace },
) => ({
  declarations: [
    code`
      ${trace(origin)}
      const answer: ${importedType(MODULE, "DirectResponse")} = ${literal({ ...settings })};
    `,
  ],
  steps: [code`return ${imported(MODULE, "respondDirectly")}(exchange, answer);`],
  answers: true,
});
