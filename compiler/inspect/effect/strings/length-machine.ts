import type { Machine } from "./machine.ts";
import type { StringFeature } from "./string-feature.ts";

/** How long a string is, as far as some lengths tell: its state is its length, up to the largest of them. */
export class LengthMachine implements Machine {
  readonly start = 0;
  readonly #lengths: readonly number[];
  readonly #largest: number;

  /** `features`: all of them lengths. */
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
