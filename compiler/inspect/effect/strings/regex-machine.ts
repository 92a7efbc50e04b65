import type { Work } from "../work/work.ts";
import type { Machine } from "./machine.ts";
import {
  isWordRune,
  NEWLINE,
  OPERATION,
  type RegexProgram,
  regexProgram,
  takesRune,
} from "./regex-program.ts";

/** Kind of the previous character, for assertions. */
type Before = "none" | "newline" | "word" | "other";

interface State {
  readonly isMatched: boolean;
  readonly before: Before;
  readonly instructions: readonly number[];
}

/** Empty-width assertions of RE2, as bits. */
const ASSERTION = {
  lineStart: 1,
  lineEnd: 2,
  textStart: 4,
  textEnd: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

/** An automaton for a pattern that matches anywhere in a string: the subset construction of RE2's program. */
export class RegexMachine implements Machine {
  readonly start: number;
  readonly #program: RegexProgram;
  readonly #alphabet: readonly number[];
  readonly #work: Work;
  readonly #ids = new Map<string, number>();
  readonly #states: State[] = [];
  readonly #steps: number[][] = [];

  /** `alphabet` has a character for each class. */
  constructor(pattern: string, alphabet: readonly number[], work: Work) {
    this.#program = regexProgram(pattern);
    this.#alphabet = alphabet;
    this.#work = work;
    this.start = this.#idOf({ isMatched: false, before: "none", instructions: [] });
  }

  step(state: number, symbol: number): number {
    const known = this.#steps[state]?.[symbol];
    if (known !== undefined) return known;
    const next = this.#next(state, this.#alphabet[symbol] ?? NEWLINE);
    const steps = this.#steps[state];
    if (steps !== undefined) steps[symbol] = next;
    return next;
  }

  accepted(state: number): string {
    const found = this.#states[state];
    if (found === undefined) return "0";
    return found.isMatched || this.#closure(found, undefined).isMatched ? "1" : "0";
  }

  #next(state: number, rune: number): number {
    const found = this.#states[state];
    if (found === undefined || found.isMatched) return state;
    const { reached, isMatched } = this.#closure(found, rune);
    if (isMatched) return this.#idOf({ isMatched, before: "none", instructions: [] });
    const next = new Set<number>();
    for (const at of reached) {
      const instruction = this.#program.inst[at];
      if (instruction === undefined || instruction.op < OPERATION.firstRune) continue;
      if (takesRune(instruction, rune)) next.add(instruction.out);
    }
    const before = rune === NEWLINE ? "newline" : isWordRune(rune) ? "word" : "other";
    const instructions = [...next].sort((a, b) => a - b);
    return this.#idOf({ isMatched: false, before, instructions });
  }

  /** Returns the instructions that are reachable without consuming a character; `next` is `undefined` at the end of the string. */
  #closure(
    { instructions, before }: State,
    next: number | undefined,
  ): { readonly reached: ReadonlySet<number>; readonly isMatched: boolean } {
    const holds = assertionsBetween(before, next);
    const reached = new Set<number>();
    let isMatched = false;
    const open = [...instructions, this.#program.start];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const instruction = this.#program.inst[at];
      if (instruction === undefined || reached.has(at)) continue;
      reached.add(at);
      this.#work.spend(2);
      switch (instruction.op) {
        case OPERATION.alternative:
        case OPERATION.alternativeMatch:
          open.push(instruction.out, instruction.arg);
          break;
        case OPERATION.capture:
        case OPERATION.noOperation:
          open.push(instruction.out);
          break;
        case OPERATION.emptyWidth:
          if ((instruction.arg & ~holds) === 0) open.push(instruction.out);
          break;
        case OPERATION.match:
          isMatched = true;
      }
    }
    return { reached, isMatched };
  }

  #idOf(state: State): number {
    const key = state.isMatched ? "matched" : `${state.before} ${state.instructions.join()}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    this.#ids.set(key, this.#states.length);
    this.#steps.push([]);
    return this.#states.push(state) - 1;
  }
}

function assertionsBetween(before: Before, next: number | undefined): number {
  const isBoundary = (before === "word") !== (next !== undefined && isWordRune(next));
  return (
    (before === "none" ? ASSERTION.textStart | ASSERTION.lineStart : 0) |
    (before === "newline" ? ASSERTION.lineStart : 0) |
    (next === undefined ? ASSERTION.textEnd | ASSERTION.lineEnd : 0) |
    (next === NEWLINE ? ASSERTION.lineEnd : 0) |
    (isBoundary ? ASSERTION.wordBoundary : ASSERTION.noWordBoundary)
  );
}
