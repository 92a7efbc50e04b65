import { code, join } from "../../code/code.ts";
import type { Code, ImportSymbol } from "../../code/hole.ts";
import { logVariables } from "../../code/log-variables.ts";
import { name } from "../../code/names.ts";

/**
 * Returns the parameter of a function of expressions about a model request, and the variables that it declares. `type`: the
 * parameter's, with the members `request` and `llmRequest`.
 */
export function askedInput(
  reads: readonly string[],
  type: ImportSymbol,
): { readonly input: Code; readonly declared: readonly Code[] } {
  const variables = [...new Set(reads)].sort();
  const others = variables.filter((variable) => variable !== "llmRequest");
  const read = [
    ...(others.length > 0 ? [name("request")] : []),
    ...(others.length < variables.length ? [name("llmRequest")] : []),
  ];
  const input = read.length === 0 ? code`` : code`{ ${join(read, ", ")} }: ${type}`;
  return { input, declared: logVariables(others) };
}
