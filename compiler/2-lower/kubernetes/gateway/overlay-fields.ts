import { isObject, type MergeObject } from "../../../../templates/kubernetes/strategic-merge.ts";
import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Place,
} from "../../../diagnostics/diagnostic.ts";
import { suggest } from "../../../diagnostics/suggestion.ts";
import type { Json } from "../../../model/json.ts";
import { typeName } from "../../../schema/schema-messages.ts";
import { overlayTypes } from "./overlay-types.ts";

/** Fields of a Kubernetes type by name; `undefined` if the type has no fields. */
type Fields = ReadonlyMap<string, string> | undefined;

/** The expected type at a location, in the notation of `overlayTypes`, and the name of the location in messages. */
export interface Expected {
  readonly type: string;
  readonly field: string;
}

/**
 * Reports values in a part of an object that the API server would refuse: wrong types, list items without their
 * merge key, and unknown directives; also reports unknown fields.
 */
export function checkValue(
  value: Json | undefined,
  { type, field }: Expected,
  at: Place,
  diagnostics: Diagnostics,
): void {
  // `null` removes a field.
  if (value === null || value === undefined || type === "any") return;
  const [, items, key] = /^\[(.*)\](?:\/(.*))?$/.exec(type) ?? [];
  const scalar = SCALARS.get(type);
  if (items !== undefined && Array.isArray(value)) {
    const expected = { type: items, field: `an item of ${field}`, list: field, key };
    value.forEach((item, index) => {
      checkItem(item, expected, childOf(at, index), diagnostics);
    });
  } else if (items !== undefined) reportType(value, "a list", field, at, diagnostics);
  else if (scalar !== undefined) {
    if (!scalar.holds(value)) reportType(value, scalar.what, field, at, diagnostics);
  } else if (isObject(value)) checkFields(value, { type, field }, at, diagnostics);
  else reportType(value, "a mapping", field, at, diagnostics);
}

function checkFields(
  value: MergeObject,
  { type, field }: Expected,
  at: Place,
  diagnostics: Diagnostics,
): void {
  const values = /^\{(.*)\}$/.exec(type)?.[1];
  const fields = values === undefined ? fieldsOf(type) : undefined;
  for (const [key, each] of Object.entries(value)) {
    const place = childOf(at, key);
    const known = values ?? fields?.get(key);
    if (key.startsWith("$")) checkDirective(key, each, place, diagnostics);
    else if (known === undefined) reportUnknown(key, { field, fields }, place, diagnostics);
    else checkValue(each, { type: known, field: `"${key}"` }, place, diagnostics);
  }
}

interface ExpectedItem extends Expected {
  readonly list: string;
  /** Key by which items are merged; `undefined` if the list is replaced. */
  readonly key: string | undefined;
}

function checkItem(
  item: Json,
  { key, list, ...expected }: ExpectedItem,
  at: Place,
  diagnostics: Diagnostics,
): void {
  if (item === null) reportType(item, "something", expected.field, at, diagnostics);
  checkValue(item, expected, at, diagnostics);
  if (key === undefined || !isObject(item) || item[key] !== undefined) return;
  if (item.$patch === "replace") return;
  const message = `every item of ${list} requires "${key}", by which the list is merged`;
  diagnostics.report("broken-rule", at, { message });
}

function checkDirective(
  key: string,
  value: Json | undefined,
  at: Place,
  diagnostics: Diagnostics,
): void {
  if (isDirective(key, value)) return;
  const text = key === "$patch" ? `$patch: ${JSON.stringify(value)}` : key;
  diagnostics.report("unknown-directive", keyPlace(at), { text });
}

/** Whether a key and value are a directive of strategic merge patches (apimachinery, strategicpatch). */
function isDirective(key: string, value: Json | undefined): boolean {
  if (key === "$patch") return value === "delete" || value === "replace" || value === "merge";
  return key === "$retainKeys" || /^\$(deleteFromPrimitiveList|setElementOrder)\/./.test(key);
}

function reportUnknown(
  key: string,
  { field, fields }: { readonly field: string; readonly fields: Fields },
  at: Place,
  diagnostics: Diagnostics,
): void {
  const suggestion = suggest(key, [...(fields?.keys() ?? [])]);
  diagnostics.report("unknown-resource-field", keyPlace(at), { owner: field, key, suggestion });
}

function reportType(
  value: Json,
  expected: string,
  field: string,
  at: Place,
  diagnostics: Diagnostics,
): void {
  diagnostics.report("wrong-type", at, { field, expected, found: typeName(value) });
}

interface Scalar {
  readonly what: string;
  readonly holds: (value: Json) => boolean;
}

const isText = (value: Json) => typeof value === "string";

/** Format of quantities in Kubernetes (apimachinery, resource.Quantity). */
const QUANTITY = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/** Types without fields. */
const SCALARS: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ["string", { what: "a string", holds: isText }],
  ["boolean", { what: "true or false", holds: (value) => typeof value === "boolean" }],
  ["integer", { what: "a whole number", holds: Number.isInteger }],
  ["number", { what: "a number", holds: (value) => typeof value === "number" }],
  [
    "int-or-string",
    {
      what: "a whole number or a string",
      holds: (value) => Number.isInteger(value) || isText(value),
    },
  ],
  [
    "quantity",
    {
      what: "a quantity such as 100m or 256Mi",
      holds: (value) => ["number", "string"].includes(typeof value) && QUANTITY.test(String(value)),
    },
  ],
]);

function fieldsOf(type: string): Fields {
  const start = overlayTypes.indexOf(`\n${type} `);
  if (start < 0) return undefined;
  const [, ...fields] = (overlayTypes.slice(start + 1).split(/\n(?! )/, 1)[0] ?? "").split(/\s+/);
  return new Map(
    fields.map((each) => {
      const colon = each.indexOf(":");
      return [each.slice(0, colon), each.slice(colon + 1)];
    }),
  );
}
