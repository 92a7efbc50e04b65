import { type Code, code, type Either, either, type Hole, join } from "./code.ts";

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

/** `callee(a, b)`, on one line when it fits, else a line for each argument. */
export function callCode(callee: Hole, args: readonly Hole[]): Either {
  return either(
    code`${callee}(${join(args, ", ")})`,
    code`
      ${callee}(
        ${join(args, ",\n")},
      )
    `,
  );
}

/** `(parameters) => a && b`, on one line when it fits. */
export function testFunction(parameters: Code, conditions: readonly Code[]): Either {
  return either(
    code`${parameters} => ${join(conditions, " && ")}`,
    code`
      ${parameters} =>
        ${join(conditions, " &&\n")}
    `,
  );
}
