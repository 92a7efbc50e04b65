import type { Gateway } from "../../runtime/gateway/definition.ts";
import type { LiteralSecret } from "../model/literal-secrets.ts";
import { type Evaluated, evaluateModules, type GeneratedModule } from "./evaluate-modules.ts";

/**
 * Evaluates the modules of a gateway in this process: exactly the text that a build would write. Credentials that the
 * configuration writes out are variables of this process from then on. Throws what the modules throw (StartupError for a
 * variable that is not set).
 */
export async function loadGateway({
  modules,
  literals,
}: {
  readonly modules: readonly GeneratedModule[];
  readonly literals: readonly LiteralSecret[];
}): Promise<Gateway> {
  for (const { variable, value } of literals) process.env[variable] = value;
  return gatewayOf(await evaluateModules(modules));
}

/** The gateway that modules define. */
export function gatewayOf(modules: Evaluated): Gateway {
  // `main.ts` exports it under this type; the type check of a build proves it.
  return modules.get("main.ts")?.gateway as Gateway;
}
