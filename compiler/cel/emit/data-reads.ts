import type { Declaration } from "../variables/environment.ts";

/** What an expression reads, as far as it was emitted: what the route has to collect for it. */
export class DataReads {
  readonly #variables = new Set<string>();
  #paths: ReadonlyMap<string, readonly string[]> = new Map();

  /** The variables of the emitted function that its code reads: `request`. */
  get variables(): ReadonlySet<string> {
    return this.#variables;
  }

  /** The paths that are read, each once, in the order of their names. */
  get paths(): readonly (readonly string[])[] {
    return [...this.#paths.keys()].sort().flatMap((key) => [this.#paths.get(key) ?? []]);
  }

  /** The expression reads a declared variable, or what is below it. */
  declared({ path, variable }: Declaration, below: readonly string[] = []): void {
    this.#read([...path.split("."), ...below]);
    if (variable !== undefined) this.#variables.add(variable);
  }

  /** Emits a part of a chain of selections: what is read is the chain's path, whatever the part notes. */
  only<Result>(path: readonly string[], emit: () => Result): Result {
    const before = this.#paths;
    const emitted = emit();
    this.#paths = before;
    this.#read(path);
    return emitted;
  }

  #read(path: readonly string[]): void {
    const key = path.join(".");
    if (!this.#paths.has(key)) this.#paths = new Map([...this.#paths, [key, path]]);
  }
}
