import fc from "fast-check";

/** Generates expressions of each type, mostly well-typed, over the variables of `VARIABLES`. */
interface Grammar {
  int: string;
  uint: string;
  double: string;
  string: string;
  bytes: string;
  bool: string;
  ints: string;
  strings: string;
  map: string;
  dyn: string;
}

const one = (...texts: readonly string[]) => fc.constantFrom(...texts);

function call(form: string, ...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((values) => {
    let at = 0;
    return form.replace(/\$/g, () => values[at++] ?? "");
  });
}

/**
 * Left out is where the other implementation differs from cel-go: it reads "" as the number 0, takes `-(-x)` for x,
 * replaces "" nowhere, refuses quotients of large uints, and does not compare an int with a double as doubles.
 */
const digits = one('"12"', '"-7"', '"abc"', '"9223372036854775808"');

/** Strings without surrogates, which it counts as two characters. */
const flat = one('"abc"', '"été"', '""', '("ab" + "c")');

/** Numbers of every type that all are exact as doubles. */
const numbers = one("0", "7", "size(s)", "1.5", "d", "0.0", "1u", "7.0");

const grammar = fc.letrec((tie: fc.LetrecTypedTie<Grammar>): fc.LetrecValue<Grammar> => {
  const binary = (type: keyof Grammar, operators: readonly string[]) =>
    call("($ $ $)", tie(type), one(...operators), tie(type));
  const choose = (type: keyof Grammar) => call("($ ? $ : $)", tie("bool"), tie(type), tie(type));
  const depth = { maxDepth: 4, depthIdentifier: "expression" } as const;
  return {
    int: fc.oneof(
      depth,
      one(
        "0",
        "1",
        "-1",
        "7",
        "x",
        "y",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "m.n",
        "m.missing",
      ),
      binary("int", ["+", "-", "*", "/", "%"]),
      choose("int"),
      call("size($)", fc.oneof(tie("string"), tie("ints"), tie("map"), tie("bytes"))),
      call("int($)", fc.oneof(tie("double"), tie("uint"), digits)),
      one("-(x)", "-(y)", "-(m.n)"),
      call("$[$]", tie("ints"), tie("int")),
      call("$.indexOf($)", flat, tie("string")),
    ),
    uint: fc.oneof(
      depth,
      one("0u", "1u", "u", "18446744073709551615u"),
      binary("uint", ["+", "-", "*"]),
      call("uint($)", fc.oneof(tie("int"), tie("double"), digits)),
    ),
    double: fc.oneof(
      depth,
      one("0.0", "1.5", "-2.0", "d", "1e300", "m.d", "0.25"),
      binary("double", ["+", "-", "*", "/"]),
      call("double($)", fc.oneof(tie("int"), tie("uint"), one('"1.5"', '"-2"', '"1e3"'))),
      choose("double"),
    ),
    string: fc.oneof(
      depth,
      one('""', '"a"', '"abc"', '"été"', '"éx"', '"12"', "s", "m.s", 'm["missing"]'),
      call("($ + $)", tie("string"), tie("string")),
      call("string($)", fc.oneof(tie("int"), tie("bool"), tie("uint"), tie("bytes"))),
      choose("string"),
      call("$.lowerAscii()", tie("string")),
      call("$.upperAscii()", tie("string")),
      call("$.substring($)", flat, tie("int")),
      call("$.replace($, $)", tie("string"), one('"a"', '"b"', '"é"'), tie("string")),
      call("$.charAt($)", flat, tie("int")),
      call("$.join($)", tie("strings"), tie("string")),
      call("$.trim()", tie("string")),
    ),
    bytes: fc.oneof(depth, one('b"a"', 'b"\\xff"'), call("bytes($)", tie("string"))),
    bool: fc.oneof(
      depth,
      one("true", "false", "b", "m.b", "m.missing"),
      call("($ && $)", tie("bool"), tie("bool")),
      call("($ || $)", tie("bool"), tie("bool")),
      call("!($ || $)", tie("bool"), tie("bool")),
      one("!b", "!m.b"),
      choose("bool"),
      ...(["int", "uint", "double", "string", "bool", "bytes"] as const).map((type) =>
        binary(type, ["==", "!=", "<", "<=", ">", ">="]),
      ),
      call("($ $ $)", numbers, one("==", "<", ">=", "!="), numbers),
      call("($ $ $)", tie("dyn"), one("==", "!=", "<", ">="), tie("dyn")),
      call("($ == $)", tie("ints"), tie("ints")),
      call("($ == $)", tie("map"), tie("map")),
      call("($ in $)", fc.oneof(tie("int"), one("1.0", "7.5", "2u", "null", "m.s")), tie("ints")),
      call("($ in $)", tie("string"), tie("strings")),
      call("($ in $)", one('"a"', '"n"', "s"), one("m", "m.inner", '{"a": 1}', "{s: 2}")),
      call("has($)", one("m.n", "m.missing", "m.inner.a", "m.inner.z", "m.n.z")),
      call("$.startsWith($)", tie("string"), tie("string")),
      call("$.endsWith($)", tie("string"), tie("string")),
      call("$.contains($)", tie("string"), tie("string")),
      call("$.matches($)", tie("string"), one('"^a"', '"b+$"', '"[a-c]+"', '"^(a|abc)$"', '"é."')),
      call("$.exists(v, $)", tie("ints"), fc.oneof(tie("bool"), call("v > $", tie("int")))),
      call("$.all(v, $)", tie("ints"), fc.oneof(tie("bool"), call("v / $ == 1", tie("int")))),
      call("$.exists_one(v, $)", tie("ints"), call("v == $", tie("int"))),
      call("$.all(k, $)", tie("map"), call("k.startsWith($)", tie("string"))),
    ),
    ints: fc.oneof(
      depth,
      one("[]", "[1, 2, 3]", "l", "m.l"),
      call("[$, $]", tie("int"), tie("int")),
      call("($ + $)", tie("ints"), tie("ints")),
      call("$.filter(v, $)", tie("ints"), fc.oneof(tie("bool"), call("v != $", tie("int")))),
      call("$.map(v, $)", tie("ints"), call("v + $", tie("int"))),
      choose("ints"),
    ),
    strings: fc.oneof(
      depth,
      one('["a", "b"]', "m.strings"),
      call("[$]", tie("string")),
      call("$.split($)", tie("string"), tie("string")),
    ),
    map: fc.oneof(
      depth,
      one("{}", "m", "m.inner"),
      call('{"a": $, "b": $}', tie("dyn"), tie("dyn")),
      call("{$: $}", tie("string"), tie("int")),
    ),
    dyn: fc.oneof(
      depth,
      one("null", "m.n", "m.d", "m.s", "m.none", "m.inner.a", 'm.inner["a"]', "m.s.a", "m.l[0]"),
      numbers,
      tie("string"),
      tie("bool"),
      tie("ints"),
      tie("map"),
    ),
  };
});

/** An expression of any type. */
export const expressions: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: grammar.bool },
  { weight: 2, arbitrary: grammar.int },
  { weight: 1, arbitrary: grammar.double },
  { weight: 1, arbitrary: grammar.uint },
  { weight: 2, arbitrary: grammar.string },
  { weight: 1, arbitrary: grammar.ints },
  { weight: 1, arbitrary: grammar.map },
);

/** Values of the variables: a bigint is an int, any other number a double. */
export interface Binding {
  readonly x: bigint;
  readonly y: bigint;
  readonly u: bigint;
  readonly d: number;
  readonly s: string;
  readonly b: boolean;
  readonly l: readonly bigint[];
  readonly m: { readonly [name: string]: unknown };
}

const anyInt = fc.oneof(
  fc.bigInt({ min: -3n, max: 12n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n),
);
const anyDouble = fc.oneof(fc.double(), fc.constantFrom(1, 0, -0, 0.5, 2 ** 60, Number.NaN));
const anyText = fc.oneof(
  fc.constantFrom("", "a", "abc", "b", "12"),
  fc.string({ unit: "grapheme-ascii", maxLength: 4 }),
);

/** Values of the variables. */
export const bindings: fc.Arbitrary<Binding> = fc.record({
  x: anyInt,
  y: anyInt,
  u: fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  d: anyDouble,
  s: anyText,
  b: fc.boolean(),
  l: fc.array(anyInt, { maxLength: 4 }),
  m: fc.record({
    n: anyInt,
    d: anyDouble,
    s: fc.oneof(anyText, fc.constant(null)),
    b: fc.oneof(fc.boolean(), anyText),
    l: fc.oneof(fc.array(anyInt, { maxLength: 3 }), anyText),
    strings: fc.array(anyText, { maxLength: 3 }),
    none: fc.constant(null),
    inner: fc.oneof(fc.record({ a: anyInt }), anyInt),
  }),
});
