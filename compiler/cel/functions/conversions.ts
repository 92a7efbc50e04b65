import { declareFunctions } from "./declaration.ts";

/** Conversions between types. */
export const conversions = declareFunctions({
  bool: {
    helper: "values/convert#toBool",
    doc: "A bool from a string: `true`, `false`, `1`, `0`, `t`, `f`.",
    signatures: ["bool(bool): bool", "bool(string): bool"],
    example: ['bool("true")', "true"],
  },
  int: {
    helper: "values/convert#toInt",
    doc: "An int of 64 bits; a double loses its fraction, a timestamp is converted to seconds.",
    signatures: [
      "int(int): int",
      "int(uint): int",
      "int(double): int",
      "int(string): int",
      "int(timestamp): int",
    ],
    example: ['int("42")', "42"],
  },
  uint: {
    helper: "values/convert#toUint",
    doc: "A uint of 64 bits; a negative number is an error.",
    signatures: ["uint(uint): uint", "uint(int): uint", "uint(double): uint", "uint(string): uint"],
    example: ["uint(3.7)", "3u"],
  },
  double: {
    helper: "values/convert#toDouble",
    doc: "A double.",
    signatures: [
      "double(double): double",
      "double(int): double",
      "double(uint): double",
      "double(string): double",
    ],
    example: ['double("1e3")', "1000.0"],
  },
  string: {
    helper: "values/convert#toText",
    doc: "A string; bytes must be UTF-8.",
    signatures: [
      "string(string): string",
      "string(bool): string",
      "string(int): string",
      "string(uint): string",
      "string(double): string",
      "string(bytes): string",
      "string(timestamp): string",
      "string(duration): string",
      "string(ip): string",
      "string(cidr): string",
    ],
    example: ["string(1.5)", '"1.5"'],
  },
  bytes: {
    helper: "values/convert#toBytes",
    doc: "The UTF-8 bytes of a string.",
    signatures: ["bytes(bytes): bytes", "bytes(string): bytes"],
    example: ['bytes("é")', 'b"\\303\\251"'],
  },
  dyn: {
    helper: "values/convert#toDyn",
    doc: "The same value without its static type: the checker accepts it everywhere.",
    signatures: ["dyn(A): dyn"],
    example: ["dyn(1) == 1", "true"],
  },
  type: {
    helper: "values/types#typeOf",
    doc: "The type of a value.",
    signatures: ["type(A): type(A)"],
    example: ["type(1) == int", "true"],
  },
});
