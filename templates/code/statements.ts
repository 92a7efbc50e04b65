import { code, firstThatFits, group, indented, pieces, SOFT } from "./code.ts";
import type { Expression, Group, Hole } from "./hole.ts";
import { laidOut } from "./layout.ts";
import { binary } from "./syntax.ts";

/** Writes `if (a && b) statement`, on one line if it fits. */
export function ifStatement(conditions: readonly Expression[], statement: Hole): Group {
  const test = laidOut(conjunction(conditions), "condition");
  return firstThatFits([
    pieces(["if (", test, ") ", statement]),
    code`
      ${group("if (", indented(SOFT, test), SOFT, ") {")}
        ${statement}
      }
    `,
  ]);
}

/** Joins conditions with `&&`. */
export function conjunction(conditions: readonly Expression[]): Expression {
  const [only] = conditions;
  if (conditions.length === 1 && only !== undefined) return only;
  return binary(
    "&&",
    conditions.flatMap((each) =>
      each.kind === "binary" && each.operator === "&&" ? each.operands : [each],
    ),
  );
}
