import { type HeaderList, withoutHeader } from "./header-list.ts";

/** Changes to the headers of a message. Names are in lower case and appear once. */
export interface HeaderModifier {
  /** Headers that replace all of their name. */
  readonly set?: readonly (readonly [name: string, value: string])[];
  /** Headers that are added to those of their name. */
  readonly add?: readonly (readonly [name: string, value: string])[];
  readonly remove?: readonly string[];
}

/** Returns a copy with all changes. */
export function modifiedHeaders(
  list: HeaderList,
  { set = [], add = [], remove = [] }: HeaderModifier,
): string[] {
  let headers = [...list];
  for (const [name] of set) headers = withoutHeader(headers, name);
  for (const name of remove) headers = withoutHeader(headers, name);
  for (const [name, value] of set) headers.push(name, value);
  for (const [name, value] of add) headers.push(name, value);
  return headers;
}
