import { type Code, code, type Either, either, join } from "./code.ts";

/** `if (a && b) statement`, on one line when it fits. */
export function ifStatement(conditions: readonly Code[], statement: Code): Either {
  const flat = join(conditions, " && ");
  const head = either(
    code`if (${flat}) {`,
    code`
      if (
        ${join(conditions, " &&\n")}
      ) {
    `,
  );
  return either(
    code`if (${flat}) ${statement}`,
    code`
      ${head}
        ${statement}
      }
    `,
  );
}
