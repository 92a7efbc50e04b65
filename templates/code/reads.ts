import type { CompiledExpression } from "../../compiler/model/expressions.ts";

/** Returns whether one of the expressions reads the body of a message. */
export function readsBody(
  expressions: readonly CompiledExpression[],
  message: "request" | "response",
): boolean {
  return expressions.some(({ reads }) =>
    reads.some(([root, member]) => root === message && member === "body"),
  );
}
