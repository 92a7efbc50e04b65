import { code, literal } from "../code/code.ts";
import { imported, importedType } from "../code/names.ts";
import { nonEmpty } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/cors";

/** `cors`: answers preflights, marks the other responses. */
export const corsTemplate: PolicyTemplate<"cors"> = {
  isBeforeGuard: true,
  allowedOrigins: ({ isAnyOrigin, origins, originPatterns }) =>
    isAnyOrigin
      ? ["*"]
      : [...origins, ...originPatterns.map(({ start, end }) => `${start}*${end}`)],
  code: ({ settings, origin }, { trace }) => {
    const { isAnyOrigin, origins, originPatterns, response } = settings;
    const type = importedType(MODULE, isAnyOrigin ? "CorsResponse" : "CorsSettings");
    const apply = imported(MODULE, isAnyOrigin ? "applyCorsToAnyOrigin" : "applyCors");
    const value = isAnyOrigin
      ? { ...response }
      : {
          allowOrigins: code`new Set(${literal(origins)})`,
          allowOriginPatterns: nonEmpty(originPatterns),
          ...response,
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
  },
};
