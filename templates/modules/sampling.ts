import type { SamplingNode } from "../../compiler/ir/sampling.ts";
import { code, comment, join } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, ImportSymbol } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { logVariables } from "../code/log-variables.ts";
import { imported, importedType, name } from "../code/names.ts";
import { call } from "../code/syntax.ts";
import type { Trace } from "../code/trace.ts";

const SAMPLING = "gwc/runtime/telemetry/traces/sampling";

/** Returns the sampling of all requests or of none; `undefined` if an expression decides. */
export function constantSampling(
  node: SamplingNode | undefined,
  otherwise: "always" | "never",
): ImportSymbol | undefined {
  if (node === undefined) return imported(SAMPLING, otherwise);
  const { source } = node.value;
  if (source !== "true" && source !== "false") return undefined;
  return imported(SAMPLING, source === "true" ? "always" : "never");
}

/** Writes the function that decides by an expression whether a request belongs to a sample. */
export function samplingFunction(
  label: string,
  { value, origin }: SamplingNode,
  { trace, expressions }: { readonly trace: Trace; readonly expressions: Expressions },
): Code {
  const usesStatus = value.variables.includes("response");
  const parameters = [
    ...(value.variables.length > 0
      ? [code`request: ${importedType("gwc/runtime/http/exchange", "Exchange")}`]
      : []),
    ...(usesStatus ? [code`status: number | undefined`] : []),
  ];
  return code`
    ${trace(origin)}
    function ${name(label)}(${join(parameters, ", ")}): boolean {
      ${logVariables(value.variables)}
      ${comment(value.source)}
      ${returned(call(imported(SAMPLING, "isSampled"), [expressions.use(value.code)]))}
    }
  `;
}
