import { declareFunctions } from "./declaration.ts";

const NUMBERS = ["int", "uint", "double"] as const;

/** Returns the overloads of `math.greatest` and `math.least`: one to five numbers, or a list of them. */
function extremes(name: string): readonly string[] {
  const same = NUMBERS.flatMap((type) => [
    `math.${name}(${type}): ${type}`,
    `math.${name}(${type}, ${type}): ${type}`,
    `math.${name}(list(${type})): ${type}`,
  ]);
  const mixed = NUMBERS.flatMap((left) =>
    NUMBERS.filter((right) => right !== left).map(
      (right) => `math.${name}(${left}, ${right}): dyn`,
    ),
  );
  const more = [3, 4, 5, 6, 7, 8].map((count) => {
    const params = Array.from({ length: count }, () => "dyn").join(", ");
    return `math.${name}(${params}): dyn`;
  });
  return [...same, ...mixed, `math.${name}(list(dyn)): dyn`, ...more];
}

const each = (name: string, types: readonly string[]) =>
  types.map((type) => `math.${name}(${type}): ${type}`);

const pairs = (name: string) =>
  ["int", "uint"].map((type) => `math.${name}(${type}, ${type}): ${type}`);

/** The math extension. */
export const mathFunctions = declareFunctions({
  "math.greatest": {
    helper: "functions/math#greatest",
    doc: "The largest of some numbers, or of a list of them.",
    signatures: extremes("greatest"),
    example: ["math.greatest(1, 3, 2)", "3"],
  },
  "math.least": {
    helper: "functions/math#least",
    doc: "The smallest of some numbers, or of a list of them.",
    signatures: extremes("least"),
    example: ["math.least([1, 3, 2])", "1"],
  },
  "math.ceil": {
    helper: "functions/math#ceil",
    doc: "The number rounded up to an integer.",
    signatures: each("ceil", ["double"]),
    example: ["math.ceil(1.2)", "2.0"],
  },
  "math.floor": {
    helper: "functions/math#floor",
    doc: "The number rounded down to an integer.",
    signatures: each("floor", ["double"]),
    example: ["math.floor(1.8)", "1.0"],
  },
  "math.round": {
    helper: "functions/math#round",
    doc: "The nearest integer; halves are rounded away from zero.",
    signatures: each("round", ["double"]),
    example: ["math.round(1.5)", "2.0"],
  },
  "math.trunc": {
    helper: "functions/math#trunc",
    doc: "The number without its fraction.",
    signatures: each("trunc", ["double"]),
    example: ["math.trunc(-1.8)", "-1.0"],
  },
  "math.abs": {
    helper: "functions/math#abs",
    doc: "The absolute value.",
    signatures: each("abs", NUMBERS),
    example: ["math.abs(-3)", "3"],
  },
  "math.sign": {
    helper: "functions/math#sign",
    doc: "-1, 0 or 1.",
    signatures: each("sign", NUMBERS),
    example: ["math.sign(-3)", "-1"],
  },
  "math.sqrt": {
    helper: "functions/math#sqrt",
    doc: "The square root.",
    signatures: ["math.sqrt(int): double", "math.sqrt(uint): double", "math.sqrt(double): double"],
    example: ["math.sqrt(16)", "4.0"],
  },
  "math.isNaN": {
    helper: "functions/math#isNotANumber",
    doc: "Whether a double is NaN.",
    signatures: ["math.isNaN(double): bool"],
    example: ["math.isNaN(0.0 / 0.0)", "true"],
  },
  "math.isInf": {
    helper: "functions/math#isInfinite",
    doc: "Whether a double is infinite.",
    signatures: ["math.isInf(double): bool"],
    example: ["math.isInf(1.0 / 0.0)", "true"],
  },
  "math.isFinite": {
    helper: "functions/math#isFiniteNumber",
    doc: "Whether a double is a finite number.",
    signatures: ["math.isFinite(double): bool"],
    example: ["math.isFinite(1.0)", "true"],
  },
  "math.bitAnd": {
    helper: "functions/math#bitAnd",
    doc: "Bitwise AND.",
    signatures: pairs("bitAnd"),
    example: ["math.bitAnd(6, 3)", "2"],
  },
  "math.bitOr": {
    helper: "functions/math#bitOr",
    doc: "Bitwise OR.",
    signatures: pairs("bitOr"),
    example: ["math.bitOr(6, 3)", "7"],
  },
  "math.bitXor": {
    helper: "functions/math#bitXor",
    doc: "Bitwise XOR.",
    signatures: pairs("bitXor"),
    example: ["math.bitXor(6, 3)", "5"],
  },
  "math.bitNot": {
    helper: "functions/math#bitNot",
    doc: "Bitwise NOT.",
    signatures: each("bitNot", ["int", "uint"]),
    example: ["math.bitNot(1)", "-2"],
  },
  "math.bitShiftLeft": {
    helper: "functions/math#bitShiftLeft",
    doc: "Left shift; bits beyond 64 are lost.",
    signatures: ["math.bitShiftLeft(int, int): int", "math.bitShiftLeft(uint, int): uint"],
    example: ["math.bitShiftLeft(1, 4)", "16"],
  },
  "math.bitShiftRight": {
    helper: "functions/math#bitShiftRight",
    doc: "Right shift, filled with zeros.",
    signatures: ["math.bitShiftRight(int, int): int", "math.bitShiftRight(uint, int): uint"],
    example: ["math.bitShiftRight(16, 4)", "1"],
  },
});
