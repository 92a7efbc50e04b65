import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/host-rewrite";

/** `hostRewrite`: one statement. */
export const hostRewriteTemplate: PolicyTemplate<"hostRewrite"> = {
  code: ({ settings, origin }, { trace }) => ({
    declarations: [],
    steps: [[...trace(origin), hostStep(settings.mode)]],
  }),
};

/** Returns the statement that sets Host. */
export function hostStep(mode: PolicySettings["hostRewrite"]["mode"]): Code {
  const settle = imported(MODULE, mode === "Auto" ? "useUpstreamHost" : "keepHost");
  return code`${settle}(exchange);`;
}
