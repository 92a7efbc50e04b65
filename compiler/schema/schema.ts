import { nameList } from "../diagnostics/name-list.ts";
import type { Json } from "../model/json.ts";
import { literalPattern } from "../model/literal-pattern.ts";
import type { Text } from "../model/texts.ts";

/**
 * A JSON schema (the keywords of draft 2020-12 that gwc uses) with gwc's own keywords. It has no `anyOf`, `oneOf` and
 * `$ref` for shapes, so that each mistake has one message and each path one schema. `Value` is the type of a valid
 * value: the builders below infer it, and `validator` returns it.
 */
export interface Schema<Value = unknown> {
  /** For the type checker only: no schema has this property. */
  readonly [VALUE]?: Value;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  /** Pattern of the keys of a map. */
  readonly propertyNames?: Pick<Schema, "pattern" | "form" | "declares" | "refersTo">;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly uniqueItems?: boolean;
  /** Field that identifies the items of a list in Kubernetes, so that several writers can own items. */
  readonly listKey?: string;
  readonly pattern?: string;
  /** Description of the pattern: `a path that begins with "/"`. */
  readonly form?: string;
  readonly format?: FormatName;
  /** Minimum of a string with the format `duration`: `1s`. */
  readonly minimumDuration?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Names of properties of which exactly one must be present. */
  readonly exactlyOneOf?: readonly string[];
  /** Names of properties of which at least one must be present. */
  readonly atLeastOneOf?: readonly string[];
  /** Names of properties of which at most one may be present. */
  readonly atMostOneOf?: readonly string[];
  /** Rules that involve several fields of an object. */
  readonly checks?: readonly ValueCheck[];
  /** Whether its fields or items are parts: if one has a mistake, only that one is removed. */
  readonly hasParts?: boolean;
  /** Whether a mapping without content in YAML has the effect of its absence. */
  readonly mayBeEmpty?: boolean;
  /** Kind of the names that its values declare, to which other fields refer. */
  readonly declares?: NameKind;
  /** Kinds of names that it refers to; the first one is the default where a `kind` next to it can choose. */
  readonly refersTo?: readonly (NameKind | string)[];
  /** Name of the field that this one is an alias of. */
  readonly aliasOf?: string;
  /** Description of a feature of the specification that gwc does not support yet: using it is an error. */
  readonly unsupported?: string;
  /** Reason why the field, which agentgateway has, changes nothing here: using it is a warning. */
  readonly ignored?: string;
  /** Hint that says how to get the same result without this unsupported or ignored field. */
  readonly instead?: string;
  /** Hints for keys or values that users often expect here but that do not exist; `[]` for a list. */
  readonly misplacedFieldHints?: Readonly<Record<string, string>>;
  /** Description of what the field applies to instead, if it has no meaning here: using it is an error. */
  readonly misplaced?: string;
  /** Descriptions of values of the specification that gwc does not support yet. */
  readonly unsupportedValues?: Readonly<Record<string, string>>;
  /** Whether `${NAME}` in it is resolved when the gateway starts, not at build time. */
  readonly readAtStart?: boolean;
  /** Whether dollar signs are part of its language, so that only `${NAME}`, and `$NAME` alone, is a variable. */
  readonly hasDollarSigns?: boolean;
  /** Whether it must not be a literal: literals are reported, and `${NAME}` is resolved when the gateway starts. */
  readonly secret?: boolean;
  /** Whether a literal value is hidden in output that explains a configuration. */
  readonly isHidden?: boolean;
  /** Whether the value is a CEL expression. */
  readonly expression?: boolean;
  /** Phase of the expressions in it; by default that of what contains it, and `request` if nothing has one. */
  readonly phase?: "request" | "mcp" | "llm" | "response" | "log";
  /** Whether the value is an RE2 pattern. */
  readonly isPattern?: boolean;
  /** Whether it is a number of bytes, which files can write as a quantity (`2Mi`). */
  readonly isQuantity?: boolean;
}

declare const VALUE: unique symbol;

/** Type of a valid value of a schema: `Infer<typeof routeSchema>`. */
export type Infer<Of extends Schema> = Of extends Schema<infer Value> ? Value : never;

/** Schemas of the fields of an object. */
export type Fields = Readonly<Record<string, Schema>>;

/** A rule that involves several fields of an object, for gwc and for a CRD. */
export interface ValueCheck {
  /** The requirement, as a sentence without a full stop. */
  readonly message: string;
  /** Field that breaks the rule; `undefined` for the object itself. */
  readonly field?: string;
  /** Field that `field` requires. */
  readonly needs?: string;
  readonly holds: (value: Readonly<Record<string, unknown>>) => boolean;
  /** The rule as a CEL expression over `self`, for `x-kubernetes-validations`. */
  readonly cel: string;
}

/** The JSON types of a value. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/**
 * Kinds of names in a file. `section` is a part of a manifest; names of manifests have the kind of the manifest.
 */
export type NameKind =
  | "gateway"
  | "listener"
  | "route"
  | "rule"
  | "routeGroup"
  | "backend"
  | "service"
  | "server"
  | "model"
  | "provider"
  | "section";

/** Names of the string formats that gwc checks. */
export type FormatName =
  | "duration"
  | "gatewayDuration"
  | "url"
  | "hostname"
  | "cidr"
  | "address"
  | "address-or-off"
  | "ip";

/** Keywords of a schema that its builder does not set itself. */
export type Rest<Given extends keyof Schema> = Omit<Schema, Given | typeof VALUE>;

/** Type of an object with these fields, without those that cannot be used here. */
export type ObjectValue<Of extends Fields, Required> = Flat<
  {
    readonly [Key in keyof Of as Key extends Required ? UsableKey<Of, Key> : never]: Infer<Of[Key]>;
  } & {
    readonly [Key in keyof Of as Key extends Required ? never : UsableKey<Of, Key>]?: Infer<
      Of[Key]
    >;
  }
>;

type UsableKey<Of extends Fields, Key extends keyof Of> = [Infer<Of[Key]>] extends [never]
  ? never
  : Key;

type Flat<Value> = { [Key in keyof Value]: Value[Key] };

/** Keywords of an object other than its fields. */
export type ObjectRest<Required> = Rest<
  "type" | "properties" | "additionalProperties" | "required"
> & {
  readonly required?: readonly Required[];
};

/** Schema of an object with fixed keys: an unknown key is a mistake. */
export function object<const Of extends Fields, const Required extends keyof Of & string = never>(
  properties: Of,
  rest: ObjectRest<Required> = {},
): Schema<ObjectValue<Of, Required>> {
  return { type: "object", properties, additionalProperties: false, ...rest };
}

/** Schema of an object with some known fields; others may have any value. */
export function openObject<
  const Of extends Fields,
  const Required extends keyof Of & string = never,
>(properties: Of, rest: ObjectRest<Required> = {}): Schema<ObjectValue<Of, Required>> {
  return { type: "object", properties, additionalProperties: true, ...rest };
}

/** Schema of an object with arbitrary keys whose values share a schema. */
export function map<Value>(
  values: Schema<Value>,
  rest: Rest<"type" | "additionalProperties"> = {},
): Schema<Readonly<Record<string, Value>>> {
  return { type: "object", additionalProperties: values, ...rest };
}

/** Schema of a list whose items share a schema. */
export function list<Value>(
  items: Schema<Value>,
  rest: Rest<"type" | "items"> = {},
): Schema<readonly Value[]> {
  return { type: "array", items, ...rest };
}

/** Schema of a list whose items are parts: an item with a mistake becomes `undefined`. */
export function listOfParts<Value>(
  items: Schema<Value>,
  rest: Rest<"type" | "items" | "hasParts"> = {},
): Schema<readonly (Value | undefined)[]> {
  return { type: "array", items, hasParts: true, ...rest };
}

type TextRest = Rest<"type" | "description">;

/** Type of a string: the compiler may not know the value of one that is resolved at startup. */
type TextValue<Given> = Given extends { readonly readAtStart: true } | { readonly secret: true }
  ? Text
  : string;

/** Schema of a non-empty string. */
export function text<const Given extends TextRest>(
  description: string,
  rest?: Given,
): Schema<TextValue<Given>> {
  return { type: "string", minLength: 1, description, ...rest };
}

/** Schema of a string that may be empty. */
export function anyText<const Given extends Rest<"type">>(rest?: Given): Schema<TextValue<Given>> {
  return { type: "string", ...rest };
}

/** Schema of a ShortString of the specification: 1 to 256 characters. */
export function shortText<const Given extends TextRest>(
  description: string,
  rest?: Given,
): Schema<TextValue<Given>> {
  return { type: "string", minLength: 1, maxLength: 256, description, ...rest };
}

/** Schema of a CEL expression: 1 to 16,384 characters. */
export function expression(description: string): Schema<string> {
  return text(description, { maxLength: 16384, expression: true });
}

/** Returns the same schema for expressions of another phase than those of requests. */
export function inPhase<Of extends Schema>(phase: NonNullable<Schema["phase"]>, schema: Of): Of {
  return { ...schema, phase };
}

/** Schema of a boolean. */
export function boolean(
  description: string,
  rest: Rest<"type" | "description"> = {},
): Schema<boolean> {
  return { type: "boolean", description, ...rest };
}

/** Schema of an integer; both limits are inclusive. */
export function integer(
  description: string,
  minimum: number,
  maximum: number,
  rest: Rest<"type"> = {},
): Schema<number> {
  return { type: "integer", description, minimum, maximum, ...rest };
}

/** Schema of a number of bytes; both limits are inclusive. */
export function byteCount(
  description: string,
  minimum: number,
  maximum: number,
  rest: Rest<"type"> = {},
): Schema<number> {
  return { ...integer(description, minimum, maximum, rest), isQuantity: true };
}

/** Schema of a number; both limits are inclusive. */
export function number(description: string, minimum: number, maximum: number): Schema<number> {
  return { type: "number", description, minimum, maximum };
}

/** Schema of one of several words. */
export function choice<const Word extends string>(
  description: string,
  values: readonly Word[],
  rest: Rest<"type" | "enum"> = {},
): Schema<Word> {
  return { type: "string", enum: values, description, ...rest };
}

/** Schema of a duration: `30s`, `1h30m`. */
export function duration(
  description: string,
  rest: Rest<"type" | "description"> = {},
): Schema<string> {
  return { type: "string", format: "duration", description, ...rest };
}

/** Schema of any JSON value. */
export const json: Schema<Json> = {};

/** Schema of a value of either type. Each type has its own keywords; keywords for both are in `rest`. */
export function either<First, Second>(
  first: Schema<First>,
  second: Schema<Second>,
  rest: Rest<"type"> = {},
): Schema<First | Second> {
  const types = [first.type ?? [], second.type ?? []].flat();
  return { ...asAlternative(first), ...asAlternative(second), ...rest, type: types };
}

/** Converts the words of a choice to a pattern, because JSON Schema applies `enum` to values of every type. */
function asAlternative({ enum: words, ...schema }: Schema): Rest<"enum"> {
  if (words === undefined) return schema;
  const escaped = words.map((word) => literalPattern(String(word)));
  const quoted = words.map((word) => `"${word}"`);
  const [example] = words;
  const examples = schema.examples ?? (example === undefined ? [] : [example]);
  return { ...schema, examples, pattern: `^(${escaped.join("|")})$`, form: nameList(quoted, "or") };
}

/** Schema of a value that may also be null. */
export function nullable<Value>(schema: Schema<Value>): Schema<Value | null> {
  return { ...schema, type: [schema.type ?? [], "null" as const].flat() };
}

/** Schema of a mapping that may be left empty (`policies:`), which is a warning and has the effect of its absence. */
export function orEmpty<Value>(schema: Schema<Value>): Schema<Value> {
  return { ...schema, mayBeEmpty: true };
}

/** Returns some of the fields. */
export function pick<Of extends Fields, const Name extends keyof Of & string>(
  fields: Of,
  names: readonly Name[],
): Pick<Of, Name> {
  // The same fields, reduced to those names.
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Of, Name>;
}

/** Returns the keywords of a schema without the type of its value. */
export function withoutValue(schema: Schema): Rest<never> {
  return schema;
}

/** Types a value that was validated as part of a larger one whose schema contains this one. */
export function validated<Value>(
  _schema: Schema<Value> | ((...given: never) => Schema<Value>),
  value: unknown,
): Value {
  // The larger schema has validated it.
  return value as Value;
}

/** Whether a field can be used in its place. */
export function isWritable({
  unsupported: later,
  misplaced: other,
  ignored: idle,
}: Schema): boolean {
  return later === undefined && other === undefined && idle === undefined;
}

/** Schema of a feature that gwc does not support yet, with its shape as far as it is known. */
export function unsupported(what: string, shape: Schema = {}): Schema<never> {
  return { ...withoutValue(shape), unsupported: what };
}

/** Schema of a field that gwc does not support; `instead` is a hint with the alternative. */
export function unsupportedBut(what: string, instead: string): Schema<never> {
  return { unsupported: what, instead };
}

/** Schema of a field that is accepted and changes nothing: `why` is the reason, `instead` a hint with the alternative. */
export function ignored(why: string, instead: string): Schema<never> {
  return { ignored: why, instead, description: `Accepted without effect: ${why}.` };
}

/** Schema of a field that has no meaning in its place; `actsOn` describes what it applies to. */
export function misplaced(actsOn: string): Schema<never> {
  return { misplaced: actsOn };
}

/** Returns the schema of the value at a path; `undefined` if the schema does not define it. */
export function schemaAt(schema: Schema, path: readonly (string | number)[]): Schema | undefined {
  let current: Schema | undefined = schema;
  for (const step of path) {
    if (current === undefined) return undefined;
    current = typeof step === "number" ? current.items : propertySchema(current, step);
  }
  return current;
}

function propertySchema(schema: Schema, key: string): Schema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key))
    return schema.properties[key];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
