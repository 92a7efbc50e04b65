import { type HeaderList, headerValue, replaceHeader, withoutHeader } from "./header-list.ts";

/** What becomes of the headers of a name. */
export type HeaderAction = "append" | "addIfAbsent" | "overwrite" | "overwriteIfPresent";

/** One change to the headers of a message. */
export interface HeaderEdit {
  /** In lower case. */
  readonly name: string;
  /** `undefined` if the value that was wanted can't be a header's (RFC 9110 5.5). */
  readonly value: string | undefined;
  readonly action: HeaderAction;
}

/** Headers that are changed one by one. Names are in lower case. */
export interface EditedHeaders {
  /** A client has sent them, and could have made up what an edit is about. */
  readonly areOfClient: boolean;
  add(name: string, value: string): void;
  set(name: string, value: string): void;
  /** Sets it only where one is there already, or only where none is. */
  setIf(isThere: boolean, name: string, value: string): void;
  remove(name: string): void;
}

/** Makes changes, one after the other (`editHeader`). */
export function editHeaders(headers: EditedHeaders, edits: readonly HeaderEdit[]): void {
  for (const { name, value, action } of edits) editHeader(headers, name, value, action);
}

/**
 * Makes one change, whoever wants it: a server that was asked, or an expression. A value that can't be set removes the header
 * it is for. Without that, a client's `x-user` would pass for the one of an edit that was dropped.
 */
export function editHeader(
  headers: EditedHeaders,
  name: string,
  value: string | undefined,
  action: HeaderAction,
): void {
  if (value === undefined) {
    const isReplaced = action === "overwrite" || action === "overwriteIfPresent";
    if (headers.areOfClient || isReplaced) headers.remove(name);
  } else if (action === "append") headers.add(name, value);
  else if (action === "overwrite") headers.set(name, value);
  else headers.setIf(action === "overwriteIfPresent", name, value);
}

/** A list of headers that is edited. */
export class EditedList implements EditedHeaders {
  readonly areOfClient: boolean;
  #list: string[];

  constructor(list: HeaderList, areOfClient: boolean) {
    this.#list = [...list];
    this.areOfClient = areOfClient;
  }

  /** With all changes made to it. */
  get list(): string[] {
    return this.#list;
  }

  add(name: string, value: string): void {
    this.#list.push(name, value);
  }

  set(name: string, value: string): void {
    if (this.areOfClient) this.#list = withoutHeader(this.#list, name);
    replaceHeader(this.#list, name, value);
  }

  setIf(isThere: boolean, name: string, value: string): void {
    if ((headerValue(this.#list, name) !== undefined) === isThere) this.set(name, value);
  }

  remove(name: string): void {
    this.#list = withoutHeader(this.#list, name);
  }
}
