/** A deterministic automaton over an alphabet of classes of characters, made as it is walked. */
export interface Machine {
  readonly start: number;
  /** The state after a character of a class of the alphabet. */
  step(state: number, symbol: number): number;
  /** What a string that ends here has: a digit for each feature. */
  accepted(state: number): string;
}
