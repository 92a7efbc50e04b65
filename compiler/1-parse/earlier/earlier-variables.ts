import type { Scalar } from "yaml";

/** Variables of expressions before agentgateway 1.0, and their present names. */
const VARIABLES: Readonly<Record<string, string>> = {
  "llm.request_model": "llm.requestModel",
  "llm.response_model": "llm.responseModel",
  "llm.input_tokens": "llm.inputTokens",
  "llm.output_tokens": "llm.outputTokens",
  "llm.total_tokens": "llm.totalTokens",
};

/** One of the variables as a whole name, outside a string that contains nothing else. */
const VARIABLE =
  /(?<![\w."'])llm\.(?:request_model|response_model|(?:input|output|total)_tokens)\b/g;

/** A variable in an earlier form that a scalar had. */
interface FoundVariable {
  readonly variable: string;
  readonly now: string;
}

/** Writes the present names of variables in a scalar, and returns those that it had. */
export function renamedVariables(scalar: Scalar): readonly FoundVariable[] {
  const { value } = scalar;
  if (typeof value !== "string" || !value.includes("llm.")) return [];
  const found = new Map<string, string>();
  const text = value.replaceAll(VARIABLE, (variable) => {
    const now = VARIABLES[variable] ?? variable;
    found.set(variable, now);
    return now;
  });
  if (found.size === 0) return [];
  scalar.value = text;
  // Offsets in the value are not those of its source any more, so mistakes point at all of it.
  delete scalar.type;
  return [...found].map(([variable, now]) => ({ variable, now }));
}
