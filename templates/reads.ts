import type { CompiledExpression } from "../compiler/ir.ts";

/** Bytes of a body that is held for expressions: the specification's `maxBufferSize`. */
export const BUFFER_LIMIT = 2_097_152;

/** Whether one of the expressions reads the body of a message. */
export function readsBody(
  expressions: readonly CompiledExpression[],
  message: "request" | "response",
): boolean {
  return expressions.some(({ reads }) =>
    reads.some(([root, member]) => root === message && member === "body"),
  );
}
