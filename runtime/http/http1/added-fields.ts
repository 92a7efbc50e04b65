import type { HeaderList } from "../headers/header-list.ts";
import { fieldLines } from "./field-lines.ts";

/** Fields that are added to the head of one response after the other: what they are as lines is found out once. */
export interface AddedFields {
  /** Flat. */
  readonly list: HeaderList;
  /** The same, each with its line break; undefined: they can't be. */
  readonly lines: string | undefined;
}

/** Prepares fields of a flat list. */
export function addedFields(list: HeaderList): AddedFields {
  return { list, lines: fieldLines(list) };
}
