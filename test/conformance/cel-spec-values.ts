import type { Type as SpecType } from "@bufbuild/cel-spec/cel/expr/checked_pb.js";
import { Type_PrimitiveType, Type_WellKnownType } from "@bufbuild/cel-spec/cel/expr/checked_pb.js";
import type { Value } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from "../../compiler/cel/types/types.ts";
import { entriesOf } from "../../runtime/cel/collections/entries.ts";
import { timestampOf } from "../../runtime/cel/time/time-arithmetic.ts";
import { Duration } from "../../runtime/cel/time/time-values.ts";
import { isEqual } from "../../runtime/cel/values/compare.ts";
import { at } from "../../runtime/cel/values/select.ts";
import { TypeValue } from "../../runtime/cel/values/types.ts";
import { canonical, double, doubleOf, kindOf, Uint } from "../../runtime/cel/values/values.ts";

/** Thrown for what gateways do not have: protocol buffer messages and enums. */
export class ProtoError extends Error {}

/** A value of the specification's tests as the runtime has it. */
export function fromSpec(value: Value): unknown {
  const { kind } = value;
  switch (kind.case) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
    case "bytesValue":
      return kind.value;
    case "int64Value":
      return canonical(kind.value);
    case "uint64Value":
      return new Uint(canonical(kind.value));
    case "doubleValue":
      return double(kind.value);
    case "listValue":
      return kind.value.values.map(fromSpec);
    case "mapValue":
      return new Map(
        kind.value.entries.map(({ key, value: content }) => [
          key === undefined ? undefined : fromSpec(key),
          content === undefined ? undefined : fromSpec(content),
        ]),
      );
    case "typeValue":
      return new TypeValue(kind.value);
    case "objectValue":
      return fromAny(kind.value.typeUrl, kind.value.value);
    default:
      throw new ProtoError(`a value of kind ${kind.case}`);
  }
}

/** Timestamps and durations come packed; their two fields are varints. */
function fromAny(typeUrl: string, bytes: Uint8Array): unknown {
  const name = typeUrl.split("/").at(-1);
  if (name !== "google.protobuf.Timestamp" && name !== "google.protobuf.Duration") {
    throw new ProtoError(`a message of type ${name}`);
  }
  const [seconds, nanos] = varints(bytes);
  if (name === "google.protobuf.Timestamp") return timestampOf(seconds, nanos);
  return nanos < 0 ? new Duration(seconds - 1, nanos + 1e9) : new Duration(seconds, nanos);
}

function varints(bytes: Uint8Array): readonly [number, number] {
  const fields = [0, 0, 0];
  let index = 0;
  while (index < bytes.length) {
    const field = (bytes[index] ?? 0) >> 3;
    index += 1;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[index] ?? 0;
      index += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    fields[field] = Number(BigInt.asIntN(64, value));
  }
  return [fields[1] ?? 0, fields[2] ?? 0];
}

/** Whether a result is what a test expects: the same type, the same value; NaN is NaN. */
export function isExpected(actual: unknown, expected: unknown): boolean {
  const kind = kindOf(expected);
  if (kind === undefined || kindOf(actual) !== kind) return false;
  if (kind === "double") return Object.is(doubleOf(actual), doubleOf(expected));
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return (
      actual.length === expected.length &&
      expected.every((item, index) => isExpected(actual[index], item))
    );
  }
  if (kind === "map") {
    const entries = [...(entriesOf(expected) ?? [])];
    return (
      entries.length === [...(entriesOf(actual) ?? [])].length &&
      entries.every(([key, item]) => isExpected(at(actual, key), item))
    );
  }
  return isEqual(actual, expected);
}

/** A declared type of the specification's tests. */
export function typeFromSpec(type: SpecType): Type {
  const { typeKind } = type;
  switch (typeKind.case) {
    case "dyn":
      return DYN;
    case "null":
      return NULL;
    case "primitive":
      return PRIMITIVES[typeKind.value] ?? DYN;
    case "wellKnown":
      return WELL_KNOWN[typeKind.value] ?? DYN;
    case "listType":
      return listOf(part(typeKind.value.elemType));
    case "mapType":
      return mapOf(part(typeKind.value.keyType), part(typeKind.value.valueType));
    case "type":
      return typeOf(part(typeKind.value));
    case "abstractType":
      if (typeKind.value.name === "optional_type") {
        return optionalOf(part(typeKind.value.parameterTypes[0]));
      }
      throw new ProtoError(`abstract type ${typeKind.value.name}`);
    case "typeParam":
      return { kind: "param", name: typeKind.value };
    default:
      throw new ProtoError(`a type of kind ${typeKind.case}`);
  }
}

function part(type: SpecType | undefined): Type {
  return type === undefined ? DYN : typeFromSpec(type);
}

const PRIMITIVES: Readonly<Partial<Record<Type_PrimitiveType, Type>>> = {
  [Type_PrimitiveType.BOOL]: BOOL,
  [Type_PrimitiveType.INT64]: INT,
  [Type_PrimitiveType.UINT64]: UINT,
  [Type_PrimitiveType.DOUBLE]: DOUBLE,
  [Type_PrimitiveType.STRING]: STRING,
  [Type_PrimitiveType.BYTES]: BYTES,
};

const WELL_KNOWN: Readonly<Partial<Record<Type_WellKnownType, Type>>> = {
  [Type_WellKnownType.TIMESTAMP]: TIMESTAMP,
  [Type_WellKnownType.DURATION]: DURATION,
};

export { formatType };
