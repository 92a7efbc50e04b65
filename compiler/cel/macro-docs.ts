/** Documentation of a macro for the reference. */
export interface MacroDoc {
  readonly form: string;
  readonly doc: string;
  readonly example: readonly [expression: string, value: string];
}

/** The macros, in the order of the reference. */
export const MACRO_DOCS: readonly MacroDoc[] = [
  {
    form: "has(a.b)",
    doc: "Whether a field exists. A variable that is null has no fields.",
    example: ["has({'a': 1}.b)", "false"],
  },
  {
    form: "list.all(x, test)",
    doc: "Whether a test holds for every element of a list, or key of a map.",
    example: ["[1, 2].all(x, x > 0)", "true"],
  },
  {
    form: "list.exists(x, test)",
    doc: "Whether a test holds for an element of a list, or a key of a map.",
    example: ["[1, 2].exists(x, x > 1)", "true"],
  },
  {
    form: "list.exists_one(x, test)",
    doc: "Whether a test holds for exactly one; also `existsOne`.",
    example: ["[1, 2].exists_one(x, x > 0)", "false"],
  },
  {
    form: "list.filter(x, test)",
    doc: "The elements, or keys, for which a test holds.",
    example: ["[1, 2, 3].filter(x, x > 1)", "[2, 3]"],
  },
  {
    form: "list.map(x, value)",
    doc: "A value for each element, or key.",
    example: ["[1, 2].map(x, x * 2)", "[2, 4]"],
  },
  {
    form: "list.map(x, test, value)",
    doc: "A value for each element for which a test holds.",
    example: ["[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"],
  },
  {
    form: "list.sortBy(x, key)",
    doc: "The list in the order of a key of each element.",
    example: ["['bb', 'a'].sortBy(x, size(x))", "['a', 'bb']"],
  },
  {
    form: "range.all(k, v, test)",
    doc: "`all`, `exists` and `existsOne` with two variables: index and element, or key and value.",
    example: ["{'a': 1}.all(k, v, k == 'a' && v == 1)", "true"],
  },
  {
    form: "range.transformList(k, v, value)",
    doc: "A list of a value for each entry; with a test before the value, of those that pass it.",
    example: ["['a', 'b'].transformList(i, v, string(i) + v)", "['0a', '1b']"],
  },
  {
    form: "range.transformMap(k, v, value)",
    doc: "A map of the same keys with other values; with a test before the value, of those that pass it.",
    example: ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", "{'b': 20}"],
  },
  {
    form: "range.transformMapEntry(k, v, {key: value})",
    doc: "A map of other keys and values. A duplicate key is an error.",
    example: ["{'a': 1}.transformMapEntry(k, v, {v: k})", "{1: 'a'}"],
  },
  {
    form: "map.mapValues(v, value)",
    doc: "A map of the same keys with other values.",
    example: ["{'a': 1}.mapValues(v, v + 1)", "{'a': 2}"],
  },
  {
    form: "map.filterKeys(k, test)",
    doc: "The entries whose key passes a test.",
    example: ["{'a': 1, 'b': 2}.filterKeys(k, k != 'a')", "{'b': 2}"],
  },
  {
    form: "value.with(x, expression)",
    doc: "An expression that uses a value several times.",
    example: ["(1 + 2).with(x, x * x)", "9"],
  },
  {
    form: "cel.bind(x, value, expression)",
    doc: "The same with the value first.",
    example: ["cel.bind(x, 1 + 2, x * x)", "9"],
  },
  {
    form: "optional.optMap(x, value)",
    doc: "Another value in an optional, if it has one.",
    example: ["optional.of(1).optMap(x, x + 1).value()", "2"],
  },
  {
    form: "optional.optFlatMap(x, optional)",
    doc: "The same with an expression that returns an optional.",
    example: ["optional.of({'a': 1}).optFlatMap(x, x.?a).value()", "1"],
  },
];
