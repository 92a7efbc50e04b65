/** A decoded scalar: for each UTF-16 unit of the value, and for its end, where in the source it comes from. */
export interface DecodedScalar {
  readonly value: string;
  readonly offsets: readonly number[];
}

/** Collects a decoded value with the offsets of its units. */
export class ScalarBuilder {
  #value = "";
  readonly #offsets: number[] = [];
  #end = 0;

  /** Adds text whose units all come from one place: an escape sequence, a folded line break. */
  add(text: string, from: number, length: number): void {
    for (let at = 0; at < text.length; at += 1) this.#offsets.push(from);
    this.#value += text;
    this.#end = from + length;
  }

  /** Adds text as it stands in the source. */
  copy(text: string, from: number): void {
    for (let at = 0; at < text.length; at += 1) this.#offsets.push(from + at);
    this.#value += text;
    this.#end = from + text.length;
  }

  get value(): string {
    return this.#value;
  }

  /** `empty`: where an empty value ends. */
  finish(empty: number): DecodedScalar {
    const end = this.#offsets.length === 0 ? empty : this.#end;
    return { value: this.#value, offsets: [...this.#offsets, end] };
  }
}
