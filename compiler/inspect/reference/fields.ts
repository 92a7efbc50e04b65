import type { Schema } from "../../schema/schema.ts";
import { heading, type Part, type Row, table } from "./page.ts";

/** Returns a heading and a table of an object's fields; empty if it has no fields. */
export function fieldTable(schema: Schema): readonly Part[] {
  const rows = fieldRows(schema, "");
  if (rows.length === 0) return [];
  return [heading("Fields"), ...table(["field", "type", "what it is"], rows)];
}

/**
 * Lists the fields of an object by path, each followed by its own fields; for a list, the fields of its items, and for a
 * mapping of names, those of its values.
 */
function fieldRows(schema: Schema, prefix: string): readonly Row[] {
  const known = Object.entries(schema.properties ?? {}).filter(
    ([, each]) => each.unsupported === undefined && each.ignored === undefined,
  );
  const own = known.flatMap(([name, each]): readonly Row[] => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    // If a list is accepted instead of the mapping, the mapping's fields are not required.
    const isRequired = schema.required?.includes(name) === true && schema.items === undefined;
    const required = isRequired ? "Required. " : "";
    const inner = each.items ?? each;
    return [
      [`\`${path}\``, typeText(each), `${required}${each.description ?? ""}${limitsText(each)}`],
      ...fieldRows(inner, each.items === undefined ? path : `${path}[]`),
    ];
  });
  const { items, additionalProperties: named } = schema;
  const ofNames =
    typeof named === "object" ? fieldRows(named, prefix === "" ? "NAME" : `${prefix}.NAME`) : [];
  if (prefix !== "" || items === undefined) return [...own, ...ofNames];
  return [...fieldRows(items, "[]"), ...own, ...ofNames];
}

/** Formats a type: `string`, `list of expressions`. */
export function typeText({ type, format, expression, items, isQuantity }: Schema): string {
  if (expression === true) return "expression";
  if (isQuantity === true) return "bytes";
  if (format !== undefined) return FORMATS[format] ?? format;
  if (items !== undefined) return `list of ${plural(typeText(items))}`;
  const types = type === undefined ? [] : [type].flat();
  return types.map((each) => TYPES[each] ?? each).join(" or ") || "any";
}

const TYPES: Readonly<Record<string, string>> = { array: "list" };

const FORMATS: Readonly<Record<string, string>> = {
  gatewayDuration: "duration",
  "address-or-off": "address",
};

function plural(type: string): string {
  return type === "any" ? "values" : `${type}s`;
}

/** Formats the accepted values and the default. */
function limitsText({
  default: value,
  enum: choices,
  minimum,
  maximum,
  isQuantity,
}: Schema): string {
  const one =
    choices === undefined ? "" : ` One of: ${[...new Set(choices.map(code))].join(", ")}.`;
  const range =
    minimum === undefined || maximum === undefined ? "" : ` From ${minimum} to ${maximum}.`;
  const quantity = isQuantity === true ? " A number, or a quantity such as `2Mi`." : "";
  return `${one}${quantity}${range}${value === undefined ? "" : ` Default: ${code(value)}.`}`;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
