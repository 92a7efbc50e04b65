import { SectionUse } from "../../../config/sections.ts";
import type { BackendContext } from "../backends/backends.ts";
import { tokenServerOf } from "../backends/servers.ts";
import type { PolicyContext } from "./policy-context.ts";

/** Returns a context without any facts about the policies that are read with it. */
export function newContext(
  context: BackendContext & Pick<PolicyContext, "policyIndex" | "models">,
): PolicyContext {
  const own: PolicyContext = {
    ...context,
    tokenServer: (use) => tokenServerOf(use, own),
    sections: new SectionUse(),
    effective: new Map(),
    secrets: new Map(),
    configMaps: new Map(),
    reported: new Set(),
  };
  return own;
}
