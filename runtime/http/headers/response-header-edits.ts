import { type HeaderList, isHeader, withoutHeader } from "./header-list.ts";

/** Changes to the headers of a response that is not there yet. Names may be in any case. */
export class ResponseHeaderEdits {
  readonly #dropped: string[] = [];
  #added: string[] = [];

  /** One header in the place of all of that name. */
  set(name: string, value: string): void {
    this.remove(name);
    this.#added.push(name, value);
  }

  /** One more header; those of the same name stay. */
  add(name: string, value: string): void {
    this.#added.push(name, value);
  }

  /** None of that name. */
  remove(name: string): void {
    const lower = name.toLowerCase();
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
    return edited.concat(this.#added);
  }

  #drops(name: string): boolean {
    for (const dropped of this.#dropped) if (isHeader(name, dropped)) return true;
    return false;
  }
}
