import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/** A header as configured. */
export interface HeaderField {
  readonly name: string;
  readonly value: Text;
  readonly origin: Origin;
  /** Where the value stands. */
  readonly valueOrigin: Origin;
}

/** Changes to the headers of a message, as configured. */
export interface HeaderChangesConfig {
  readonly set: readonly HeaderField[];
  readonly add: readonly HeaderField[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
}

/** Changes to the headers of a message: names in lower case, each in one place. */
export interface HeaderChangesNode {
  readonly set: readonly (readonly [name: string, value: Text])[];
  readonly add: readonly (readonly [name: string, value: Text])[];
  readonly remove: readonly string[];
}
