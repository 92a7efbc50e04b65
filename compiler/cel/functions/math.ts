import { declareFunctions } from "./declaration.ts";

const NUMBERS = ["int", "uint", "double"] as const;

/** Forms of `math.greatest` and `math.least`: one to five numbers, or a list of them. */
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
    helper: "math#greatest",
    doc: "The largest of some numbers, or of a list of them.",
    signatures: extremes("greatest"),
    example: ["math.greatest(1, 3, 2)", "3"],
  },
  "math.least": {
    helper: "math#least",
    doc: "The smallest of some numbers, or of a list of them.",
    signatures: extremes("least"),
    example: ["math.least([1, 3, 2])", "1"],
  },
  "math.ceil": {
    helper: "math#ceil",
    doc: "The next whole number up.",
    signatures: each("ceil", ["double"]),
    example: ["math.ceil(1.2)", "2.0"],
  },
  "math.floor": {
    helper: "math#floor",
    doc: "The next whole number down.",
    signatures: each("floor", ["double"]),
    example: ["math.floor(1.8)", "1.0"],
  },
  "math.round": {
    helper: "math#round",
    doc: "The nearest whole number; halves go away from zero.",
    signatures: each("round", ["double"]),
    example: ["math.round(1.5)", "2.0"],
  },
  "math.trunc": {
    helper: "math#trunc",
    doc: "Without its fraction.",
    signatures: each("trunc", ["double"]),
    example: ["math.trunc(-1.8)", "-1.0"],
  },
  "math.abs": {
    helper: "math#abs",
    doc: "Without its sign.",
    signatures: each("abs", NUMBERS),
    example: ["math.abs(-3)", "3"],
  },
  "math.sign": {
    helper: "math#sign",
    doc: "-1, 0 or 1.",
    signatures: each("sign", NUMBERS),
    example: ["math.sign(-3)", "-1"],
  },
  "math.sqrt": {
    helper: "math#sqrt",
    doc: "The square root.",
    signatures: ["math.sqrt(int): double", "math.sqrt(uint): double", "math.sqrt(double): double"],
    example: ["math.sqrt(16)", "4.0"],
  },
  "math.isNaN": {
    helper: "math#isNotANumber",
    doc: "Whether a double is no number.",
    signatures: ["math.isNaN(double): bool"],
    example: ["math.isNaN(0.0 / 0.0)", "true"],
  },
  "math.isInf": {
    helper: "math#isInfinite",
    doc: "Whether a double is infinite.",
    signatures: ["math.isInf(double): bool"],
    example: ["math.isInf(1.0 / 0.0)", "true"],
  },
  "math.isFinite": {
    helper: "math#isFiniteNumber",
    doc: "Whether a double is a finite number.",
    signatures: ["math.isFinite(double): bool"],
    example: ["math.isFinite(1.0)", "true"],
  },
  "math.bitAnd": {
    helper: "math#bitAnd",
    doc: "The bits that both have.",
    signatures: pairs("bitAnd"),
    example: ["math.bitAnd(6, 3)", "2"],
  },
  "math.bitOr": {
    helper: "math#bitOr",
    doc: "The bits that either has.",
    signatures: pairs("bitOr"),
    example: ["math.bitOr(6, 3)", "7"],
  },
  "math.bitXor": {
    helper: "math#bitXor",
    doc: "The bits that one has and the other not.",
    signatures: pairs("bitXor"),
    example: ["math.bitXor(6, 3)", "5"],
  },
  "math.bitNot": {
    helper: "math#bitNot",
    doc: "Every bit the other way.",
    signatures: each("bitNot", ["int", "uint"]),
    example: ["math.bitNot(1)", "-2"],
  },
  "math.bitShiftLeft": {
    helper: "math#bitShiftLeft",
    doc: "The bits moved to the left; those beyond 64 are lost.",
    signatures: ["math.bitShiftLeft(int, int): int", "math.bitShiftLeft(uint, int): uint"],
    example: ["math.bitShiftLeft(1, 4)", "16"],
  },
  "math.bitShiftRight": {
    helper: "math#bitShiftRight",
    doc: "The bits moved to the right, with zeros coming in.",
    signatures: ["math.bitShiftRight(int, int): int", "math.bitShiftRight(uint, int): uint"],
    example: ["math.bitShiftRight(16, 4)", "1"],
  },
});
