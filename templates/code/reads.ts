import type { CompiledExpression } from "../../compiler/model/expressions.ts";

/** Whether one of the expressions reads the body of a message. */
export function readsBody(
  expressions: readonly CompiledExpression[],
  message: "request" | "response",
): boolean {
  return expressions.some(({ reads }) =>
    reads.some(([root, member]) => root === message && member === "body"),
  );
}
