import { nameList } from "../diagnostics/name-list.ts";
import type { Json } from "../model/json.ts";
import { literalPattern } from "../model/literal-pattern.ts";
import type { Text } from "../model/texts.ts";

/**
 * A JSON schema (draft 2020-12 words that gwc uses) with gwc's own keywords. Written without `anyOf`, `oneOf` and
 * `$ref` for shapes, so that each mistake has one message and each path one schema. `Value` is what a valid value is:
 * the builders below infer it, and `validator` gives it back.
 */
export interface Schema<Value = unknown> {
  /** For the type checker alone: no schema has it. */
  readonly [VALUE]?: Value;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  /** What the keys of a map look like. */
  readonly propertyNames?: Pick<Schema, "pattern" | "form">;
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
  /** The field by which Kubernetes tells the items of a list apart: several writers may each have their own. */
  readonly listKey?: string;
  readonly pattern?: string;
  /** What the pattern asks for, in words: `a path that begins with "/"`. */
  readonly form?: string;
  readonly format?: FormatName;
  /** The shortest duration that a text of the format `duration` may say: `1s`. */
  readonly minimumDuration?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Exactly one of these properties must be there. */
  readonly exactlyOneOf?: readonly string[];
  /** At least one of these properties must be there. */
  readonly atLeastOneOf?: readonly string[];
  /** At most one of these properties may be there. */
  readonly atMostOneOf?: readonly string[];
  /** Rules over several fields of an object. */
  readonly checks?: readonly ValueCheck[];
  /** Its fields or items are parts: one with a mistake is left out, and the others go on. */
  readonly hasParts?: boolean;
  /** Another spelling of the field of this name. */
  readonly aliasOf?: string;
  /** Known from the specification, but not built yet: using it is an error that says so. The value is what it is. */
  readonly unsupported?: string;
  /** Of what is not built yet: how the same is had all the same. */
  readonly instead?: string;
  /** Keys that are no fields of the object, or words that are no values, though people look for them there, and what says it: a whole hint for each. */
  readonly misplacedFieldHints?: Readonly<Record<string, string>>;
  /** Means nothing in this place: using it is an error that says so. The value is what the field acts on instead. */
  readonly misplaced?: string;
  /** Values that are known from the specification, but not built yet, and what they are. */
  readonly unsupportedValues?: Readonly<Record<string, string>>;
  /** `${NAME}` in it is read when the gateway starts, not at build. */
  readonly readAtStart?: boolean;
  /** Must not be written out: a literal is reported, `${NAME}` is read when the gateway starts. */
  readonly secret?: boolean;
  /** A credential where it is written out: what explains a configuration does not show it. */
  readonly isHidden?: boolean;
  /** The value is a CEL expression. */
  readonly expression?: boolean;
  /** The value is an RE2 pattern. */
  readonly isPattern?: boolean;
  /** A number of bytes: in a file a quantity may say it (`2Mi`). */
  readonly isQuantity?: boolean;
}

declare const VALUE: unique symbol;

/** What a valid value of a schema is: `Infer<typeof routeSchema>`. */
export type Infer<Of extends Schema> = Of extends Schema<infer Value> ? Value : never;

/** The schemas of an object's fields. */
export type Fields = Readonly<Record<string, Schema>>;

/** A rule over several fields of an object, in gwc's words and in those of a CRD. */
export interface ValueCheck {
  /** What must hold, as a sentence without full stop. */
  readonly message: string;
  /** The field that the mistake is about; the object itself when absent. */
  readonly field?: string;
  /** The field without which that one says nothing. */
  readonly needs?: string;
  readonly holds: (value: Readonly<Record<string, unknown>>) => boolean;
  /** The same as a CEL expression over `self`, for `x-kubernetes-validations`. */
  readonly cel: string;
}

/** The JSON types of a value. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/** Forms of a text that gwc checks. */
export type FormatName =
  | "duration"
  | "gatewayDuration"
  | "url"
  | "hostname"
  | "cidr"
  | "address"
  | "loopback-address"
  | "ip";

/** The words of a schema besides those that its builder gives. */
export type Rest<Given extends keyof Schema> = Omit<Schema, Given | typeof VALUE>;

/** An object with these fields: one that cannot be used where it stands has no value. */
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

/** What an object is told besides its fields. */
export type ObjectRest<Required> = Rest<
  "type" | "properties" | "additionalProperties" | "required"
> & {
  readonly required?: readonly Required[];
};

/** An object whose keys are all named: an unknown one is a mistake. */
export function object<const Of extends Fields, const Required extends keyof Of & string = never>(
  properties: Of,
  rest: ObjectRest<Required> = {},
): Schema<ObjectValue<Of, Required>> {
  return { type: "object", properties, additionalProperties: false, ...rest };
}

/** An object of which only some fields are known; the others may be anything. */
export function openObject<
  const Of extends Fields,
  const Required extends keyof Of & string = never,
>(properties: Of, rest: ObjectRest<Required> = {}): Schema<ObjectValue<Of, Required>> {
  return { type: "object", properties, additionalProperties: true, ...rest };
}

/** An object with any keys, whose values have one shape. */
export function map<Value>(
  values: Schema<Value>,
  rest: Rest<"type" | "additionalProperties"> = {},
): Schema<Readonly<Record<string, Value>>> {
  return { type: "object", additionalProperties: values, ...rest };
}

/** A list of items of one shape. */
export function list<Value>(
  items: Schema<Value>,
  rest: Rest<"type" | "items"> = {},
): Schema<readonly Value[]> {
  return { type: "array", items, ...rest };
}

/** A list whose items are parts: one with a mistake is left out, and nothing stands in its place. */
export function listOfParts<Value>(
  items: Schema<Value>,
  rest: Rest<"type" | "items" | "hasParts"> = {},
): Schema<readonly (Value | undefined)[]> {
  return { type: "array", items, hasParts: true, ...rest };
}

type TextRest = Rest<"type" | "description">;

/** A text that may be read at start is one that the compiler may not know. */
type TextValue<Given> = Given extends { readonly readAtStart: true } | { readonly secret: true }
  ? Text
  : string;

/** A text of at least one character. */
export function text<const Given extends TextRest>(
  description: string,
  rest?: Given,
): Schema<TextValue<Given>> {
  return { type: "string", minLength: 1, description, ...rest };
}

/** A text that may be empty. */
export function anyText<const Given extends Rest<"type">>(rest?: Given): Schema<TextValue<Given>> {
  return { type: "string", ...rest };
}

/** ShortString of the specification: 1..256 characters. */
export function shortText<const Given extends TextRest>(
  description: string,
  rest?: Given,
): Schema<TextValue<Given>> {
  return { type: "string", minLength: 1, maxLength: 256, description, ...rest };
}

/** A CEL expression: 1..16384 characters. */
export function expression(description: string): Schema<string> {
  return text(description, { maxLength: 16384, expression: true });
}

/** True or false. */
export function boolean(
  description: string,
  rest: Rest<"type" | "description"> = {},
): Schema<boolean> {
  return { type: "boolean", description, ...rest };
}

/** A whole number within bounds, both included. */
export function integer(
  description: string,
  minimum: number,
  maximum: number,
  rest: Rest<"type"> = {},
): Schema<number> {
  return { type: "integer", description, minimum, maximum, ...rest };
}

/** A number of bytes within bounds, both included. */
export function byteCount(
  description: string,
  minimum: number,
  maximum: number,
  rest: Rest<"type"> = {},
): Schema<number> {
  return { ...integer(description, minimum, maximum, rest), isQuantity: true };
}

/** A number within bounds, both included. */
export function number(description: string, minimum: number, maximum: number): Schema<number> {
  return { type: "number", description, minimum, maximum };
}

/** One of a few words. */
export function choice<const Word extends string>(
  description: string,
  values: readonly Word[],
  rest: Rest<"type" | "enum"> = {},
): Schema<Word> {
  return { type: "string", enum: values, description, ...rest };
}

/** A duration: `30s`, `1h30m`. */
export function duration(
  description: string,
  rest: Rest<"type" | "description"> = {},
): Schema<string> {
  return { type: "string", format: "duration", description, ...rest };
}

/** Any JSON. */
export const json: Schema<Json> = {};

/** A value of either type: each has its own words, and what is said of both alike is said in `rest`. */
export function either<First, Second>(
  first: Schema<First>,
  second: Schema<Second>,
  rest: Rest<"type"> = {},
): Schema<First | Second> {
  const types = [first.type ?? [], second.type ?? []].flat();
  return { ...asAlternative(first), ...asAlternative(second), ...rest, type: types };
}

/** JSON Schema asks `enum` of every value: beside another type the words of a choice are what its texts look like. */
function asAlternative({ enum: words, ...schema }: Schema): Rest<"enum"> {
  if (words === undefined) return schema;
  const escaped = words.map((word) => literalPattern(String(word)));
  const quoted = words.map((word) => `"${word}"`);
  return { ...schema, pattern: `^(${escaped.join("|")})$`, form: nameList(quoted, "or") };
}

/** A value that may also be empty. */
export function nullable<Value>(schema: Schema<Value>): Schema<Value | null> {
  return { ...schema, type: [schema.type ?? [], "null" as const].flat() };
}

/** The fields, of which those that `reason` names something for are not built yet. */
export function withUnsupported<Of extends Fields>(
  fields: Of,
  reason: (name: string) => string | undefined,
): Of {
  const marked = Object.entries(fields).map(([name, schema]) => {
    const what = reason(name);
    return [name, what === undefined ? schema : { ...schema, unsupported: what }];
  });
  // The same fields with the same shapes: what is not built yet is reported where it is used.
  return Object.fromEntries(marked) as Of;
}

/** Some of the fields. */
export function pick<Of extends Fields, const Name extends keyof Of & string>(
  fields: Of,
  names: readonly Name[],
): Pick<Of, Name> {
  // The same fields, of those names.
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Of, Name>;
}

/** The words of a schema, which say nothing of its value's type. */
export function withoutValue(schema: Schema): Rest<never> {
  return schema;
}

/** A value that was validated as a part of something bigger, in whose schema this one stands. */
export function validated<Value>(
  _schema: Schema<Value> | ((...given: never) => Schema<Value>),
  value: unknown,
): Value {
  // That schema has let it through.
  return value as Value;
}

/** Whether a field can be used where it stands. */
export function isWritable({ unsupported: later, misplaced: other }: Schema): boolean {
  return later === undefined && other === undefined;
}

/** The rule that a field stands beside another one, without which it would say nothing. */
export function needsField(field: string, other: string): ValueCheck {
  return {
    message: `"${field}" acts only beside "${other}"`,
    field,
    needs: other,
    holds: (value) => value[field] === undefined || value[other] !== undefined,
    cel: `!has(self.${field}) || has(self.${other})`,
  };
}

/** The rule that two names of one field do not stand beside each other. */
export function eitherField(first: string, second: string): ValueCheck {
  return {
    message: `"${first}" and "${second}" are two names of one field`,
    field: second,
    holds: (value) => value[first] === undefined || value[second] === undefined,
    cel: `!has(self.${first}) || !has(self.${second})`,
  };
}

/** A part of the specification that gwc does not build yet; its shape, as far as it is known. */
export function unsupported(what: string, shape: Schema = {}): Schema<never> {
  return { ...withoutValue(shape), unsupported: what };
}

/** A field that gwc does not build; `instead`: how the same is written, as a hint says it. */
export function unsupportedBut(what: string, instead: string): Schema<never> {
  return { unsupported: what, instead };
}

/** A field that means nothing where it stands; `actsOn` is what it acts on instead. */
export function misplaced(actsOn: string): Schema<never> {
  return { misplaced: actsOn };
}

/** The schema of the value at a path, as far as the schema says. */
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
