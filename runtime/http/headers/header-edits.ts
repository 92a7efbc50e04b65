import { type HeaderList, headerValue, replaceHeader, withoutHeader } from "./header-list.ts";

/** How an edit treats existing headers of its name. */
export type HeaderAction = "append" | "addIfAbsent" | "overwrite" | "overwriteIfPresent";

/** One change to the headers of a message. */
export interface HeaderEdit {
  /** In lower case. */
  readonly name: string;
  /** `undefined` if the requested value is not valid for a header (RFC 9110 5.5). */
  readonly value: string | undefined;
  readonly action: HeaderAction;
}

/** Headers that can be edited. Names are in lower case. */
export interface EditedHeaders {
  /** Whether a client sent them, so that it could have forged the edited header. */
  readonly areOfClient: boolean;
  add(name: string, value: string): void;
  set(name: string, value: string): void;
  /** Sets the header only if one exists, or only if none does. */
  setIf(isThere: boolean, name: string, value: string): void;
  remove(name: string): void;
}

/** Applies edits in order (`editHeader`). */
export function editHeaders(headers: EditedHeaders, edits: readonly HeaderEdit[]): void {
  for (const { name, value, action } of edits) editHeader(headers, name, value, action);
}

/**
 * Applies one edit, from an external server or an expression. An invalid value removes the header: otherwise a client's
 * `x-user` would pass for the edited one.
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

/** An editable list of headers. */
export class EditedList implements EditedHeaders {
  readonly areOfClient: boolean;
  #list: string[];

  constructor(list: HeaderList, areOfClient: boolean) {
    this.#list = [...list];
    this.areOfClient = areOfClient;
  }

  /** The list with all edits. */
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
