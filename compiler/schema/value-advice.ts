import { fitsForm } from "./formats.ts";
import { isWritable, type Schema, type SchemaType } from "./schema.ts";
import { hasField, knownFields } from "./suggested-field.ts";

/** Returns a hint for a value of the wrong type; `undefined` if there is nothing to add to the expected type. */
export function typeAdvice(schema: Schema, found: unknown): string | undefined {
  const takes = (type: SchemaType) => [schema.type ?? []].flat().includes(type);
  if (found === null || found === undefined) return emptyAdvice(schema);
  if (Array.isArray(found)) {
    if (takes("object"))
      return schema.properties === undefined
        ? "write lines of `name: value` below the key, without `-`"
        : "write its fields directly below the key, without `-`";
    const single = takes("string")
      ? "it is a single value, without brackets and without `-`"
      : undefined;
    return schema.misplacedFieldHints?.["[]"] ?? single;
  }
  if (typeof found === "object") {
    if (takes("array")) return itemsAdvice(schema.items ?? {}, Object.keys(found));
    return takes("string") ? "it is a single value, without fields" : undefined;
  }
  if (!isScalar(found)) return undefined;
  if (takes("array")) return listAdvice(schema.items ?? {}, found);
  if (takes("string") && typeof found !== "string") return scalarAdvice(schema, found);
  if (takes("object")) return fieldsAdvice(schema, found);
  return schema.misplacedFieldHints?.[String(found)] ?? scalarAdvice(schema, found);
}

/** Returns how to add an absent field: its words, example or form; `undefined` if it has none of them. */
export function additionAdvice(name: string, schema: Schema | undefined): string | undefined {
  if (schema === undefined || !isWritable(schema)) return undefined;
  const { enum: words = [], examples = [], default: standard, format } = schema;
  if (words.length > 1) return `add \`${name}:\` with one of ${words.join(", ")}`;
  const isDuration = format === "duration" || format === "gatewayDuration";
  const example = words[0] ?? examples[0] ?? standard ?? (isDuration ? "10s" : undefined);
  if (example !== undefined) return `add ${name}: ${flowText(example)}`;
  return schema.form === undefined ? undefined : `it is ${schema.form}`;
}

/** Returns a hint for a string with the wrong format. */
export function formAdvice(schema: Schema, text: string): string | undefined {
  if (text === "") return "remove it, or set a value";
  if (text.includes("{{"))
    return "this looks like a Helm template: render it with `helm template` first";
  if (schema.format === "duration" || schema.format === "gatewayDuration")
    return durationAdvice(text);
  const repaired = REPAIRS.map((repair) => repair(text)).find((each) => fitsForm(schema, each));
  return repaired === undefined || schema.secret === true ? undefined : `write ${repaired}`;
}

/** Corrections of common spellings. */
const REPAIRS: readonly ((text: string) => string)[] = [
  (text) => text.trim(),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => `/${text}`,
  (text) => /^https?:\/\/[^/]+(?=\/)/.exec(text.toLowerCase())?.[0] ?? text,
  (text) => (text.startsWith("/") ? `https://HOST${text}` : `https://${text}`),
  (text) => text.replaceAll(/[_\s]/g, "-"),
  (text) => text.toLowerCase().replaceAll(/[_\s]/g, "-"),
  (text) => text.replace(/(?<=.)\*.*$/, "*"),
  (text) => /^\w+:\/\/([^/:?#@]+)/.exec(text.toLowerCase())?.[1] ?? text,
  (text) => /^([^/:]+)[:/]/.exec(text.toLowerCase())?.[1] ?? text,
];

function durationAdvice(text: string): string | undefined {
  const [, amount, unit = ""] = /^([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  if (unit === "") return `${amount} seconds are written ${amount}s`;
  const short = /^m(in|$)/i.test(unit) ? "m" : (/^(ms|mil|h|s)/i.exec(unit)?.[0] ?? "");
  const known = { mil: "ms" }[short] ?? short;
  return known === "" ? undefined : `write ${amount}${known.toLowerCase()}`;
}

function emptyAdvice(schema: Schema): string {
  const fields = knownFields(schema);
  const value = fields.length === 0 ? "a value" : `fields: ${fields.join(", ")}`;
  return `remove the key, or set ${value}`;
}

/** Returns a hint for a scalar in place of a list. */
function listAdvice(items: Schema, found: Scalar): string {
  const [example] = items.examples ?? [];
  if (items.properties !== undefined && example !== undefined)
    return `it is a list, for example [${flowText(example)}]`;
  if (items.expression === true) return "it is a list: start the expression with `- `";
  return /\s/.test(String(found))
    ? "it is a list: write each word as a separate item"
    : `it is a list: [${shown(found, items)}]`;
}

function itemsAdvice(items: Schema, keys: readonly string[]): string {
  const fields = knownFields(items);
  const [first = ""] = keys;
  if (fields.includes(first)) return `it is a list: write \`- ${first}:\``;
  const section = fields.find((name) => hasField(items.properties?.[name], first));
  if (section !== undefined)
    return `it is a list, and "${first}" is a field of \`${section}\` of an item`;
  return fields.includes("name")
    ? `it is a list of items with names: write \`- name: ${first}\``
    : "it is a list: start each item with `- `";
}

type Scalar = string | number | boolean;

function isScalar(value: unknown): value is Scalar {
  return ["string", "number", "boolean"].includes(typeof value);
}

/**
 * Returns a hint for a scalar in place of a mapping: the field that it fits, an example, or the names of the fields.
 */
function fieldsAdvice(schema: Schema, found: Scalar): string | undefined {
  const names = knownFields(schema);
  const text = String(found);
  const [, glued] = /^([\w-]+):\S/.exec(text) ?? [];
  if (glued !== undefined && names.includes(glued))
    return `put a space after the colon: ${glued}: …`;
  const named = schema.properties?.[text];
  if (named !== undefined && isWritable(named)) return `write { ${text}: ${shortest(named)} }`;
  if (found === true && isEmptyAllowed(schema)) return "write {}";
  const { examples: [example] = [], required = [] } = schema;
  // One field is not enough if others are required too.
  const own = required.length > 1 && example !== undefined ? [] : fittingFields(schema, found);
  if (own.length === 0 && example !== undefined) return `for example ${flowText(example)}`;
  const known = [own, fittingSections(schema, found), neededField(schema, found)];
  const fields = known.find((each) => each.length > 0);
  if (fields !== undefined) return `write ${fields.slice(0, 2).join(" or ")}`;
  if (names.length > 0) return `fields here: ${names.join(", ")}`;
  return schema.additionalProperties === undefined ? undefined : "write lines of `name: value`";
}

/** Returns the shortest example of a value: `true`, `{}` if no fields are required, otherwise a placeholder. */
function shortest(schema: Schema): string {
  if (schema.type === "boolean") return "true";
  return isEmptyAllowed(schema) ? "{}" : "…";
}

/** Whether an object without fields is valid. */
function isEmptyAllowed({ type, ...schema }: Schema): boolean {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [], minProperties = 0 } = schema;
  return (
    type === "object" && required.concat(exactlyOneOf, atLeastOneOf).length + minProperties === 0
  );
}

function usableFields({ properties = {} }: Schema): readonly (readonly [string, Schema])[] {
  return Object.entries(properties).filter(
    ([, each]) => isWritable(each) && each.aliasOf === undefined,
  );
}

/** Returns the fields whose format a scalar has, as YAML with the scalar. */
function fittingFields(schema: Schema, found: Scalar): readonly string[] {
  return usableFields(schema).flatMap(([name, each]) =>
    fitsScalar(each, found) ? [`{ ${name}: ${shown(found, each)} }`] : [],
  );
}

/** Returns the sections of an object with such a field, as YAML with the scalar. */
function fittingSections(schema: Schema, found: Scalar): readonly string[] {
  return usableFields(schema).flatMap(([name, each]) =>
    fittingFields(each, found).map((value) => `{ ${name}: ${value} }`),
  );
}

/**
 * Returns the only required field of an object, or the first one of a choice, if it takes the scalar, or a list of such
 * scalars.
 */
function neededField(
  { required = [], exactlyOneOf = [], ...schema }: Schema,
  found: Scalar,
): readonly string[] {
  const [name = ""] = [...required, ...exactlyOneOf];
  const field = schema.properties?.[name];
  if (field?.type === typeof found) return [`{ ${name}: ${shown(found, field)} }`];
  const { items } = field ?? {};
  if (items === undefined || ![items.type ?? []].flat().includes(scalarType(found))) return [];
  return [`{ ${name}: [${/^[\w./-]+$/.test(String(found)) ? shown(found, items) : "…"}] }`];
}

function scalarType(found: Scalar): "string" | "number" | "boolean" {
  if (typeof found === "string") return "string";
  return typeof found === "number" ? "number" : "boolean";
}

/** Whether a schema restricts such a scalar by format, range or words, and the scalar matches. */
function fitsScalar(schema: Schema, found: Scalar): boolean {
  const { type, enum: words, minimum = Number.POSITIVE_INFINITY, maximum = 0 } = schema;
  if (words !== undefined) return typeof found !== "boolean" && words.includes(found);
  if (typeof found === "string") return type === "string" && fitsForm(schema, found);
  if (typeof found === "number")
    return (type === "integer" || type === "number") && found >= minimum && found <= maximum;
  return false;
}

function scalarAdvice(schema: Schema, found: Scalar): string | undefined {
  const types = [schema.type ?? []].flat();
  if (typeof found !== "string") {
    if (schema.format === "duration" || schema.format === "gatewayDuration")
      return durationAdvice(String(found));
    if (typeof found === "number" && types.includes("integer") && found > 0 && found < 1)
      return `write whole numbers in the same proportion, such as ${Math.round(found * 100)}`;
    if (!types.includes("string")) return undefined;
    const [example] = schema.examples ?? [];
    return typeof found === "number" && example !== undefined
      ? `for example ${flowText(example)}`
      : `put it in quotes: "${shown(found, schema)}"`;
  }
  if (schema.isQuantity === true) return quantityAdvice(found);
  if (types.includes("integer") || types.includes("number")) {
    if (/^[1-5]xx$/i.test(found))
      return `list each status code as a number: ${found[0]}00, ${found[0]}01, …`;
    const [, number] = /^[:$€£]?([0-9]+)/.exec(found) ?? [];
    return number && `write a number without quotes and unit: ${number}`;
  }
  const [, yes] = /^(?:(true|yes|on)|false|no|off)$/i.exec(found) ?? [undefined, null];
  return yes === null ? undefined : `write ${yes === undefined ? "false" : "true"}`;
}

/** Returns the correct spelling of a quantity: `2M` for `2MB`, `2Mi` for `2mib`. */
function quantityAdvice(found: string): string | undefined {
  const [, number, unit = "", binary] = /^([0-9.]{1,9}) ?([kmgt]?)(i?)b?$/i.exec(found) ?? [];
  if (number === undefined || Number.isNaN(Number(number))) return undefined;
  if (unit === "") return `write the number of bytes without quotes and unit: ${number}`;
  const own = binary === "" && unit.toLowerCase() === "k" ? "k" : unit.toUpperCase();
  return `write ${number}${own}${binary === "" ? "" : "i"}`;
}

/** Returns the value if it cannot be a secret: a number, a path, a URL without user name and query, a name. */
function shown(value: Scalar, { secret, isHidden }: Schema): string {
  if (typeof value === "boolean") return String(value);
  if (secret === true || isHidden === true) return "…";
  const text = String(value);
  if (text === "*") return '"*"';
  // Without quotes, YAML would read another type.
  if (typeof value === "string" && /^([0-9.]{1,6}|true|false|null)$/.test(text)) return `"${text}"`;
  return /^((https?:\/)?\/[\w.:/[\]-]*|[0-9.]{1,6}[a-z]{0,2}|[a-z-]{1,12}(\.[a-z-]+)*)$/.test(text)
    ? text
    : "…";
}

/** Formats a value as YAML on one line. */
function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => `${name}: ${flowText(each)}`);
    return `{ ${fields.join(", ")} }`;
  }
  const text = String(value);
  return /^[\w./:][\w./:-]*$/.test(text) ? text : JSON.stringify(text);
}
