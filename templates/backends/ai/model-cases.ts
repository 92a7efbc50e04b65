import { code, literal } from "../../code/code.ts";
import type { Code, Name } from "../../code/hole.ts";
import { name } from "../../code/names.ts";

/** A name of models, with one `*` at an end at most, and the statement for those that it means. */
export interface ModelCase {
  readonly pattern: string;
  readonly statement: Code;
}

/**
 * The statements that tell models apart: whole names first, then those with `*` at an end, the longest one first.
 * `model`: what holds the name; it may be undefined where `isOptional`.
 */
export function modelCases(
  model: Name,
  all: readonly ModelCase[],
  isOptional: boolean,
): readonly Code[] {
  const whole = all
    .filter(({ pattern }) => !pattern.includes("*"))
    .map(
      ({ pattern, statement }) => code`
        case ${literal(pattern)}:
          ${statement}
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
    .map(({ pattern, statement }) => {
      const isPrefix = pattern.endsWith("*");
      const method = name(isPrefix ? "startsWith" : "endsWith");
      const part = literal(isPrefix ? pattern.slice(0, -1) : pattern.slice(1));
      return isOptional
        ? code`if (${model}?.${method}(${part}) === true) ${statement}`
        : code`if (${model}.${method}(${part})) ${statement}`;
    });
  return [...choice, ...tests];
}
