import { type Diagnostic, Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { Program } from "../../ir/program.ts";
import { placeIn } from "../../policies/custom/read-policy.ts";
import { typescript } from "../../policies/custom/typescript.ts";
import { policyModules } from "../policy-modules.ts";
import { plainRuntime } from "./runtime-modules.ts";
import { findingsIn } from "./type-checker.ts";

/** TypeScript's advice to choose another library, which users cannot. */
const OTHER_LIBRARY = / Do you need to change your target library\?.*$/;

/** Type-checks the modules that users wrote; returns the mistakes at their places in these modules. */
export function policyTypeMistakes(programs: readonly Program[]): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  for (const program of programs) {
    const modules = policyModules(program);
    if (modules.length === 0) continue;
    const files = new Map(modules.map(({ path, user }) => [path, user?.file ?? path]));
    for (const { module, range, message } of findingsIn(
      typescript(),
      modules,
      modules,
      plainRuntime(),
    ))
      diagnostics.report("policy-types", placeIn(files.get(module) ?? module, range), {
        message: message.replace(OTHER_LIBRARY, " Node.js 24 does not have it."),
      });
  }
  return diagnostics.list;
}
