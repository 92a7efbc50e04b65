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

/** Names of the Fetch standard, whose classes Node.js loads only if code names them. */
const FETCH = /\b(?:fetch|Headers|Request|Response|FormData|WebSocket|EventSource|MessageEvent)\b/;

/** Returns what policies of a program use of the language; `undefined` if it has none. */
export function policyPowers(program: Program): { readonly usesFetch: boolean } | undefined {
  const sources = policySources(program);
  if (sources.length === 0) return undefined;
  return { usesFetch: sources.some(({ text }) => namesFetch(text)) };
}

/** Whether code names a part of the Fetch standard. */
export function namesFetch(code: string): boolean {
  return FETCH.test(code);
}
