import type { PickedParameters } from "../../model/expressions.ts";
import type { Declaration } from "../variables/environment.ts";

/** Data that the emitted part of an expression reads, which the route must collect. */
export class DataReads {
  readonly #variables = new Set<string>();
  readonly #parameters = {
    cookies: new Set<string | undefined>(),
    query: new Set<string | undefined>(),
  };
  #paths: ReadonlyMap<string, readonly string[]> = new Map();

  /** Variables of the emitted function that its code reads: `request`. */
  get variables(): ReadonlySet<string> {
    return this.#variables;
  }

  /** Paths that are read, each once, sorted. */
  get paths(): readonly (readonly string[])[] {
    return [...this.#paths.keys()].sort().flatMap((key) => [this.#paths.get(key) ?? []]);
  }

  /** Cookies and query parameters that are read by name. */
  get parameters(): PickedParameters | undefined {
    const { cookies, query } = this.#parameters;
    if (cookies.size + query.size === 0) return undefined;
    return { cookies: namesIn(cookies), query: namesIn(query) };
  }

  /** Records a cookie or query parameter; `undefined` if its name is only known at run time. */
  parameter(kind: keyof PickedParameters, name: string | undefined): void {
    this.#parameters[kind].add(name);
  }

  /** Records a declared variable, or a path below it. */
  declared({ path, variable }: Declaration, below: readonly string[] = []): void {
    this.#read([...path.split("."), ...below]);
    if (variable !== undefined) this.#variables.add(variable);
  }

  /** Emits a part of a chain of selections, and records only the path of the whole chain. */
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

function namesIn(names: ReadonlySet<string | undefined>): PickedParameters["query"] {
  return names.has(undefined) ? "any" : [...names].flatMap((name) => name ?? []).sort();
}
