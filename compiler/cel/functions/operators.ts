import { declareFunctions } from "./declaration.ts";

const ORDERED = [
  "(bool, bool): bool",
  "(int, int): bool",
  "(uint, uint): bool",
  "(double, double): bool",
  "(string, string): bool",
  "(bytes, bytes): bool",
  "(timestamp, timestamp): bool",
  "(duration, duration): bool",
  "(int, uint): bool",
  "(int, double): bool",
  "(uint, int): bool",
  "(uint, double): bool",
  "(double, int): bool",
  "(double, uint): bool",
];

const named = (name: string, forms: readonly string[]) => forms.map((form) => `${name}${form}`);

/** Operators by names that signatures can contain; `operatorNames` maps them. */
export const operators = declareFunctions({
  equal: {
    helper: "values/compare#equal",
    doc: "Whether two values are equal. Numbers of different types compare by value.",
    signatures: ["equal(A, A): bool"],
    example: ["1 == 1.0", "true"],
  },
  differs: {
    helper: "values/compare#equal",
    doc: "Whether two values differ.",
    signatures: ["differs(A, A): bool"],
    example: ['"a" != "b"', "true"],
  },
  less: {
    helper: "values/compare#less",
    doc: "Whether the first comes before the second. Strings are ordered by code point.",
    signatures: named("less", ORDERED),
    example: ["1 < 2", "true"],
  },
  lessOrEqual: {
    helper: "values/compare#lessOrEqual",
    doc: "Whether the first does not come after the second.",
    signatures: named("lessOrEqual", ORDERED),
    example: ["2 <= 2", "true"],
  },
  greater: {
    helper: "values/compare#greater",
    doc: "Whether the first comes after the second.",
    signatures: named("greater", ORDERED),
    example: ['"b" > "a"', "true"],
  },
  greaterOrEqual: {
    helper: "values/compare#greaterOrEqual",
    doc: "Whether the first does not come before the second.",
    signatures: named("greaterOrEqual", ORDERED),
    example: ["2 >= 3", "false"],
  },
  in: {
    helper: "values/compare#includes",
    doc: "Whether a list has an element, or a map a key.",
    signatures: ["in(A, list(A)): bool", "in(A, map(A, B)): bool"],
    example: ['"a" in ["a", "b"]', "true"],
  },
  not: {
    helper: "values/logic#not",
    doc: "The negated bool.",
    signatures: ["not(bool): bool"],
    example: ["!true", "false"],
  },
  negate: {
    helper: "values/numbers#negate",
    doc: "The negative number. An int beyond 64 bits is an error.",
    signatures: ["negate(int): int", "negate(double): double"],
    example: ["-(1 + 2)", "-3"],
  },
  add: {
    helper: "values/numbers#add",
    doc: "The sum; strings, bytes and lists are joined. A number beyond 64 bits is an error.",
    signatures: [
      "add(int, int): int",
      "add(uint, uint): uint",
      "add(double, double): double",
      "add(string, string): string",
      "add(bytes, bytes): bytes",
      "add(list(A), list(A)): list(A)",
      "add(timestamp, duration): timestamp",
      "add(duration, timestamp): timestamp",
      "add(duration, duration): duration",
    ],
    example: ['"a" + "b"', '"ab"'],
  },
  subtract: {
    helper: "values/numbers#subtract",
    doc: "The difference.",
    signatures: [
      "subtract(int, int): int",
      "subtract(uint, uint): uint",
      "subtract(double, double): double",
      "subtract(timestamp, timestamp): duration",
      "subtract(timestamp, duration): timestamp",
      "subtract(duration, duration): duration",
    ],
    example: ["5 - 7", "-2"],
  },
  multiply: {
    helper: "values/numbers#multiply",
    doc: "The product.",
    signatures: [
      "multiply(int, int): int",
      "multiply(uint, uint): uint",
      "multiply(double, double): double",
    ],
    example: ["6 * 7", "42"],
  },
  divide: {
    helper: "values/numbers#divide",
    doc: "The quotient; of ints without its fraction. An int divided by zero is an error.",
    signatures: [
      "divide(int, int): int",
      "divide(uint, uint): uint",
      "divide(double, double): double",
    ],
    example: ["7 / 2", "3"],
  },
  modulo: {
    helper: "values/numbers#modulo",
    doc: "The remainder, with the sign of the first number.",
    signatures: ["modulo(int, int): int", "modulo(uint, uint): uint"],
    example: ["-7 % 2", "-1"],
  },
});

/** Names in the table by the spelling of the operator. */
export const operatorNames: ReadonlyMap<string, string> = new Map([
  ["==", "equal"],
  ["!=", "differs"],
  ["<", "less"],
  ["<=", "lessOrEqual"],
  [">", "greater"],
  [">=", "greaterOrEqual"],
  ["in", "in"],
  ["!", "not"],
  ["+", "add"],
  ["-", "subtract"],
  ["*", "multiply"],
  ["/", "divide"],
  ["%", "modulo"],
]);
