import type { Code } from "./code.ts";

/** `path === constant`, `path !== constant`, and whether the constant is a bool. */
const COMPARISON = /([^\s()!]+) ([!=]==) (true|false)?/g;

/**
 * What TypeScript knows of paths from the comparisons before, in a chain of `&&` or `||` or in a branch. Comparing a
 * narrowed path with another constant would not type-check, though it is only never true.
 */
export class Narrowing {
  #paths = new Map<string, string | undefined>();

  /** Whether a path was compared before. */
  has(code: Code): boolean {
    return this.#paths.has(code.text);
  }

  /** The constant that a path is known to be equal to here. */
  constantOf(code: Code): string | undefined {
    return this.#paths.get(code.text);
  }

  /** Runs a part whose findings hold in it only. */
  within<Result>(part: () => Result): Result {
    const before = new Map(this.#paths);
    const result = part();
    this.#paths = before;
    return result;
  }

  /** Notes what code compares, for what comes after it where it was true (`===`) or false (`!==`). */
  note(code: Code, operator: "===" | "!=="): void {
    for (const [, path = "", found, bool] of code.text.matchAll(COMPARISON)) {
      // a bool that is not true is known to be false
      const isNarrowed = found === operator || bool !== undefined;
      if (isNarrowed && !this.#paths.has(path)) this.#paths.set(path, undefined);
    }
    const [, path = "", constant] = /^([^\s()!]+) === ("[^"\s]*"|-?\d+)$/.exec(code.text) ?? [];
    if (operator === "===" && constant !== undefined) this.#paths.set(path, constant);
  }
}
