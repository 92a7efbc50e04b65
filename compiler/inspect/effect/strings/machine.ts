import type { StringFeature } from "./string-feature.ts";

/** A deterministic automaton over classes of characters, built lazily. */
export interface Machine {
  readonly start: number;
  /** Returns the state after a character of a class. */
  step(state: number, symbol: number): number;
  /** Returns the features of a string that ends in a state, one digit each. */
  accepted(state: number): string;
}

/** An automaton for minimum lengths; its state is the string's length, capped at the largest of them. */
export class LengthMachine implements Machine {
  readonly start = 0;
  readonly #lengths: readonly number[];
  readonly #largest: number;

  /** `features` are all of the kind `isAsLongAs`. */
  constructor(features: readonly StringFeature[]) {
    this.#lengths = features.map(({ text }) => Number(text));
    this.#largest = Math.max(0, ...this.#lengths);
  }

  step(state: number): number {
    return Math.min(state + 1, this.#largest);
  }

  accepted(state: number): string {
    return this.#lengths.map((length) => (state >= length ? "1" : "0")).join("");
  }
}
