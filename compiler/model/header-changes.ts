import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/** A header, as configured. */
export interface HeaderField {
  readonly name: string;
  readonly value: Text;
  readonly origin: Origin;
  /** Place of the value. */
  readonly valueOrigin: Origin;
}

/** Changes to the headers of a message, as configured. */
export interface HeaderChangesConfig {
  readonly set: readonly HeaderField[];
  readonly add: readonly HeaderField[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
}

/** Changes to the headers of a message: lower-case names, each in one list. */
export interface HeaderChangesNode {
  readonly set: readonly (readonly [name: string, value: Text])[];
  readonly add: readonly (readonly [name: string, value: Text])[];
  readonly remove: readonly string[];
}
