import path from "node:path";
import type { PrintedModule } from "../../templates/code/print.ts";
import { policySources } from "../ir/policy-sources.ts";
import type { Program } from "../ir/program.ts";

/** Name under which policies import their interface. */
export const POLICY_INTERFACE = "gwc/policy";

/** Module of the runtime with that interface. */
export const POLICY_MODULE = "gwc/runtime/policy/policy";

/** Returns the modules that users wrote as modules of the gateway: unchanged copies, so that a review shows them. */
export function policyModules(program: Program): readonly PrintedModule[] {
  return policySources(program).map(({ module, origin: { file }, text, imports }) => ({
    ...{ path: module, text, imports },
    user: { folder: path.dirname(path.resolve(file)), file },
  }));
}
