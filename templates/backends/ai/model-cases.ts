import { code, literal } from "../../code/code.ts";
import type { Code, Name } from "../../code/hole.ts";
import { name } from "../../code/names.ts";

/** A model name with at most one `*` at an end, and the statement for models that match it. */
export interface ModelCase {
  readonly pattern: string;
  readonly statement: Code;
  /** Whether the statement sets `targets`, which is undefined if later cases are tried; otherwise it returns. */
  readonly mayPass?: boolean;
}

/** Statements after one that sets `targets`. */
const PASSING = [code`if (targets !== undefined) return targets;`, code`break;`];

/**
 * Writes the statements that distinguish models: full names first, then those with `*` at an end, the longest first.
 * `model`: the variable with the name, which may be undefined if `isOptional`.
 */
export function modelCases(
  model: Name,
  all: readonly ModelCase[],
  isOptional: boolean,
): readonly Code[] {
  const whole = all
    .filter(({ pattern }) => !pattern.includes("*"))
    .map(
      ({ pattern, statement, mayPass }) => code`
        case ${literal(pattern)}:
          ${[statement, ...(mayPass === true ? PASSING : [])]}
      `,
    );
  const choice =
    whole.length === 0
      ? []
      : [
          code`
            switch (${model}) {
              ${whole}
            }
          `,
        ];
  const tests = all
    .filter(({ pattern }) => pattern.includes("*"))
    .toSorted((a, b) => b.pattern.length - a.pattern.length || (a.pattern < b.pattern ? -1 : 1))
    .map(({ pattern, statement, mayPass }) => {
      const isPrefix = pattern.endsWith("*");
      const method = name(isPrefix ? "startsWith" : "endsWith");
      const part = literal(isPrefix ? pattern.slice(0, -1) : pattern.slice(1));
      if (mayPass === true)
        return code`
          if (${model}?.${method}(${part}) === true) {
            ${statement}
            if (targets !== undefined) return targets;
          }
        `;
      return isOptional
        ? code`if (${model}?.${method}(${part}) === true) ${statement}`
        : code`if (${model}.${method}(${part})) ${statement}`;
    });
  return [...choice, ...tests];
}
