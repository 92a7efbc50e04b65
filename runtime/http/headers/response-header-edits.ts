import type { EditedHeaders } from "./header-edits.ts";
import {
  type HeaderList,
  headerValue,
  isHeader,
  replaceHeader,
  withoutHeader,
} from "./header-list.ts";

/** Changes to the headers of a later response. Names may be in any case. */
export class ResponseHeaderEdits implements EditedHeaders {
  readonly areOfClient = false;
  readonly #dropped: string[] = [];
  #added: string[] = [];
  #conditional: { readonly name: string; readonly value: string; readonly isThere: boolean }[] = [];

  /** Replaces all headers of a name by one. */
  set(name: string, value: string): void {
    this.remove(name);
    this.#added.push(name, value);
  }

  /** Adds a header next to those of its name. */
  add(name: string, value: string): void {
    this.#added.push(name, value);
  }

  /** Sets a header only if one of its name exists, or only if none does. */
  setIf(isThere: boolean, name: string, value: string): void {
    this.#conditional.push({ name: name.toLowerCase(), value, isThere });
  }

  /** Removes all headers of a name. */
  remove(name: string): void {
    const lower = name.toLowerCase();
    this.#conditional = this.#conditional.filter((each) => each.name !== lower);
    this.#added = withoutHeader(this.#added, lower);
    this.#dropped.push(lower);
  }

  /** Returns a list with all changes. */
  apply(list: HeaderList): string[] {
    const edited: string[] = [];
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] ?? "";
      if (!this.#drops(name)) edited.push(name, list[i + 1] ?? "");
    }
    const all = edited.concat(this.#added);
    for (const { name, value, isThere } of this.#conditional) {
      if ((headerValue(all, name) !== undefined) === isThere) replaceHeader(all, name, value);
    }
    return all;
  }

  #drops(name: string): boolean {
    for (const dropped of this.#dropped) if (isHeader(name, dropped)) return true;
    return false;
  }
}
