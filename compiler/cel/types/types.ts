/** A CEL type: plain data, compared by structure. */
export type Type =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: "list"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  | { readonly kind: "optional"; readonly of: Type }
  /** The type of a type: `type(1)`. */
  | { readonly kind: "type"; readonly of: Type }
  /** A variable of the gateway with known fields: `request`. */
  | { readonly kind: "object"; readonly name: string }
  /** A type of a library: `ip`, `cidr`. */
  | { readonly kind: "opaque"; readonly name: string }
  /** A type parameter: `A` in a declaration, fresh in each use of an overload. */
  | { readonly kind: "param"; readonly name: string };

/** Types without parts. */
export type PrimitiveKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "timestamp"
  | "duration"
  /** A type that is only known at run time. */
  | "dyn"
  /** Type of a mistake: it is assignable everywhere, so that the mistake is reported once. */
  | "error";

const primitive = (kind: PrimitiveKind): Type => ({ kind });

/** `bool`. */
export const BOOL = primitive("bool");
/** `int`: 64 bits with a sign. */
export const INT = primitive("int");
/** `uint`: 64 bits without. */
export const UINT = primitive("uint");
/** `double`. */
export const DOUBLE = primitive("double");
/** `string`. */
export const STRING = primitive("string");
/** `bytes`. */
export const BYTES = primitive("bytes");
/** `null_type`. */
export const NULL = primitive("null");
/** `google.protobuf.Timestamp`. */
export const TIMESTAMP = primitive("timestamp");
/** `google.protobuf.Duration`. */
export const DURATION = primitive("duration");
/** `dyn`: known only at run time. */
export const DYN = primitive("dyn");
/** The type of a mistake. */
export const ERROR = primitive("error");

/** `list(element)`. */
export const listOf = (element: Type): Type => ({ kind: "list", element });
/** `map(key, value)`. */
export const mapOf = (key: Type, value: Type): Type => ({ kind: "map", key, value });
/** `optional_type(of)`. */
export const optionalOf = (of: Type): Type => ({ kind: "optional", of });
/** `type(of)`. */
export const typeOf = (of: Type): Type => ({ kind: "type", of });

/** Returns the types that a type consists of. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "list":
      return [type.element];
    case "map":
      return [type.key, type.value];
    case "optional":
    case "type":
      return [type.of];
    default:
      return [];
  }
}

/** Returns the same type with changed parts. */
export function mapParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case "list":
      return listOf(change(type.element));
    case "map":
      return mapOf(change(type.key), change(type.value));
    case "optional":
      return optionalOf(change(type.of));
    case "type":
      return typeOf(change(type.of));
    default:
      return type;
  }
}

/** Formats a type as in CEL: `map(string, list(int))`. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.element)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "optional":
      return `optional_type(${formatType(type.of)})`;
    case "type":
      return `type(${formatType(type.of)})`;
    case "object":
    case "opaque":
    case "param":
      return type.name;
    default:
      return type.kind;
  }
}

/** Whether two types are equal. */
export function isSameType(left: Type, right: Type): boolean {
  return formatType(left) === formatType(right);
}
