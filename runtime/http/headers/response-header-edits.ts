import type { EditedHeaders } from "./header-edits.ts";
import {
  type HeaderList,
  headerValue,
  isHeader,
  replaceHeader,
  withoutHeader,
} from "./header-list.ts";

/** Changes to the headers of a response that is not there yet. Names may be in any case. */
export class ResponseHeaderEdits implements EditedHeaders {
  readonly areOfClient = false;
  readonly #dropped: string[] = [];
  #added: string[] = [];
  #conditional: { readonly name: string; readonly value: string; readonly isThere: boolean }[] = [];

  /** One header in the place of all of that name. */
  set(name: string, value: string): void {
    this.remove(name);
    this.#added.push(name, value);
  }

  /** One more header; those of the same name stay. */
  add(name: string, value: string): void {
    this.#added.push(name, value);
  }

  /** The same as `set`, but only in the place of others of that name, or only if there is none. */
  setIf(isThere: boolean, name: string, value: string): void {
    this.#conditional.push({ name: name.toLowerCase(), value, isThere });
  }

  /** None of that name. */
  remove(name: string): void {
    const lower = name.toLowerCase();
    this.#conditional = this.#conditional.filter((each) => each.name !== lower);
    this.#added = withoutHeader(this.#added, lower);
    this.#dropped.push(lower);
  }

  /** A list with all changes made to it. */
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
