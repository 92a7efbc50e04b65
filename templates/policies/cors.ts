import { code, imported, importedType, literal } from "../code.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/cors";

/** `cors`: answers preflights, marks the other answers. */
export const corsTemplate: PolicyTemplate<"cors"> = ({ settings, origin }, { trace }) => {
  const { isAnyOrigin, origins, originPatterns, answer } = settings;
  const type = importedType(MODULE, isAnyOrigin ? "CorsAnswer" : "CorsSettings");
  const apply = imported(MODULE, isAnyOrigin ? "applyCorsToAnyOrigin" : "applyCors");
  const value = isAnyOrigin
    ? answer
    : {
        allowOrigins: code`new Set(${literal(origins)})`,
        allowOriginPatterns: originPatterns,
        ...answer,
      };
  return {
    declarations: [
      code`
        ${trace(origin)}
        const cors: ${type} = ${literal(value)};
      `,
    ],
    steps: [code`if (${apply}(exchange, cors)) return;`],
  };
};
