import type { ImportSymbol } from "./hole.ts";
import { capitalized } from "./names.ts";

/** Names of imported symbols in one module, which differ from those that it declares and from each other. */
export class ImportNames {
  readonly #declared: ReadonlySet<string>;
  readonly #bySymbol = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
  }

  /** Returns the name of a symbol, which is its own unless another one has it. */
  nameOf(symbol: ImportSymbol): string {
    const key = symbolKey(symbol);
    const known = this.#bySymbol.get(key);
    if (known !== undefined) return known;
    const { name } = symbol;
    const first = this.#declared.has(name) ? `gwc${capitalized(name)}` : name;
    let local = first;
    for (let count = 2; this.#taken.has(local); count++) local = `${first}${count}`;
    this.#taken.add(local);
    this.#bySymbol.set(key, local);
    return local;
  }
}

/** Returns what identifies an imported symbol. */
export function symbolKey({ module, name }: ImportSymbol): string {
  return `${module}#${name}`;
}
