import * as collections from "../../runtime/cel/collections.ts";
import * as compare from "../../runtime/cel/compare.ts";
import * as comprehensions from "../../runtime/cel/comprehensions.ts";
import * as convert from "../../runtime/cel/convert.ts";
import * as effects from "../../runtime/cel/effects.ts";
import * as encoders from "../../runtime/cel/encoders.ts";
import * as entries from "../../runtime/cel/entries.ts";
import * as format from "../../runtime/cel/format.ts";
import * as http from "../../runtime/cel/http.ts";
import * as json from "../../runtime/cel/json.ts";
import * as lists from "../../runtime/cel/lists.ts";
import * as logic from "../../runtime/cel/logic.ts";
import * as maps from "../../runtime/cel/maps.ts";
import * as math from "../../runtime/cel/math.ts";
import * as net from "../../runtime/cel/net.ts";
import * as numbers from "../../runtime/cel/numbers.ts";
import * as optional from "../../runtime/cel/optional.ts";
import * as pattern from "../../runtime/cel/pattern.ts";
import * as select from "../../runtime/cel/select.ts";
import * as strings from "../../runtime/cel/strings.ts";
import * as time from "../../runtime/cel/time.ts";
import * as types from "../../runtime/cel/types.ts";
import * as values from "../../runtime/cel/values.ts";
import type { ExpressionCode, ImportedName } from "../ir/expressions.ts";

/** The runtime's own modules: what emitted code does at build is what it does at run time. */
const MODULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  collections,
  compare,
  comprehensions,
  convert,
  effects,
  encoders,
  entries,
  format,
  http,
  json,
  lists,
  logic,
  maps,
  math,
  net,
  numbers,
  optional,
  pattern,
  select,
  strings,
  time,
  types,
  values,
};

/** Makes a function of emitted code: given the variables by name, it gives the value or undefined. */
export function functionOf(
  code: ExpressionCode,
  variables: readonly string[],
): (input: Readonly<Record<string, unknown>>) => unknown {
  const imports = new Map<string, unknown>();
  for (const each of [...code.imports, ...code.constants.flatMap((constant) => constant.imports)]) {
    imports.set(each.name, resolve(each));
  }
  const constants = code.constants.map(({ name, text }) => `const ${name} = ${text};`).join("\n");
  const input = variables.length === 0 ? "" : `{ ${variables.join(", ")} }`;
  // emitted text without its annotations is plain JavaScript; its strings are literals, never the user's text
  const make = new Function(
    ...imports.keys(),
    `${constants}\nreturn (${input}) => (${code.text});`,
  );
  return make(...imports.values());
}

/** How the runtime sees a value: needed to write a folded one down again. */
export const { doubleOf, kindOf, numberOf } = values;

/** How the runtime writes values: for showing them. */
export const { toText } = convert;
/** A string as a CEL literal. */
export const { quote } = strings;
/** The entries of a map. */
export const { entriesOf } = entries;

/** The name of a value's type: `int`, `google.protobuf.Timestamp`. */
export function typeNameOf(value: unknown): string {
  return types.typeOf(value)?.name ?? "error";
}

function resolve({ module, name }: ImportedName): unknown {
  const found = MODULES[module.replace("gwc/runtime/cel/", "")]?.[name];
  if (found === undefined) throw new Error(`the runtime has no ${module}#${name}`);
  return found;
}
