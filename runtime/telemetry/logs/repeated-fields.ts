/** Longer values are no name that the next line has again. */
const LONGEST = 64;

/** A field as a line had it last. */
interface RepeatedField {
  value: string;
  /** As it is written; undefined: nobody has asked for it a second time. */
  written: string | undefined;
}

/**
 * Fields of lines that mostly say the same as in the line before: a route, a model. What was written once is not looked at
 * again, and is one piece of the line.
 */
export class RepeatedFields {
  readonly #write: (name: string, value: string) => readonly string[];
  readonly #fields = new Map<string, RepeatedField>();

  /** `write`: the pieces of a field as it is written. */
  constructor(write: (name: string, value: string) => readonly string[]) {
    this.#write = write;
  }

  /** A field as it is written; undefined: the line before had another value, or none. */
  text(name: string, value: string): string | undefined {
    const last = this.#fields.get(name);
    if (last?.value === value) {
      // Joined it is one text for V8 as well, which has not to be put together for each line.
      last.written ??= this.#write(name, value).join("");
      return last.written;
    }
    if (value.length > LONGEST) return undefined;
    if (last === undefined) this.#fields.set(name, { value, written: undefined });
    else {
      last.value = value;
      last.written = undefined;
    }
    return undefined;
  }
}
