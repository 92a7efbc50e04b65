import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, importedType } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/request-redirect";
const PATH = "gwc/runtime/http/routing/path";

/** `requestRedirect`: ends the route. */
export const requestRedirectTemplate: PolicyTemplate<"requestRedirect"> = {
  code: ({ settings: { scheme, host, port, status, path }, origin }, { trace }) => {
    const settings = { scheme, host, port, status };
    return {
      declarations: [
        code`
          ${trace(origin)}
          const location: ${importedType(MODULE, "RedirectSettings")} = ${literal(settings)};
        `,
      ],
      steps: path === undefined ? [last] : [target(path), lastTo],
      responses: true,
    };
  },
};

const last = code`return ${imported(MODULE, "redirect")}(exchange, location);`;
const lastTo = code`return ${imported(MODULE, "redirectTo")}(exchange, location, target);`;

function target(path: NonNullable<PolicySettings["requestRedirect"]["path"]>): Code {
  if (path.kind === "full") {
    return code`const target = ${imported(PATH, "replacePath")}(exchange.upstreamTarget, ${literal(path.value)});`;
  }
  const { prefixes, value } = path;
  return code`
    const target = ${imported(PATH, "replacePrefix")}(exchange.upstreamTarget, ${literal(prefixes)}, ${literal(value)});
  `;
}
