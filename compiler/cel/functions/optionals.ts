import { declareFunctions } from "./declaration.ts";

/** The optionals extension. */
export const optionals = declareFunctions({
  "optional.of": {
    helper: "values/optional#optionalOf",
    doc: "An optional with a value.",
    signatures: ["optional.of(A): optional(A)"],
    example: ["optional.of(1).hasValue()", "true"],
  },
  "optional.ofNonZeroValue": {
    helper: "values/optional#ofNonZeroValue",
    doc: "An optional with a value; empty for the zero value of its type.",
    signatures: ["optional.ofNonZeroValue(A): optional(A)"],
    example: ['optional.ofNonZeroValue("").hasValue()', "false"],
  },
  "optional.none": {
    helper: "values/optional#optionalNone",
    doc: "An optional without a value.",
    signatures: ["optional.none(): optional(A)"],
    example: ["optional.none().hasValue()", "false"],
  },
  "optional.unwrap": {
    helper: "values/optional#unwrap",
    doc: "The values of those optionals of a list that have one.",
    signatures: ["optional.unwrap(list(optional(A))): list(A)"],
    example: ["optional.unwrap([optional.of(1), optional.none()])", "[1]"],
  },
  unwrapOpt: {
    helper: "values/optional#unwrap",
    doc: "The values of those optionals of a list that have one.",
    signatures: ["list(optional(A)).unwrapOpt(): list(A)"],
    example: ["[optional.of(1), optional.none()].unwrapOpt()", "[1]"],
  },
  hasValue: {
    helper: "values/optional#hasValue",
    doc: "Whether an optional has a value.",
    signatures: ["optional(A).hasValue(): bool"],
    example: ["{'a': 1}.?b.hasValue()", "false"],
  },
  value: {
    helper: "values/optional#contentOf",
    doc: "The value of an optional; an error if it is empty.",
    signatures: ["optional(A).value(): A"],
    example: ["{'a': 1}.?a.value()", "1"],
  },
  or: {
    helper: "values/optional#orOptional",
    doc: "The first of two optionals that has a value.",
    signatures: ["optional(A).or(optional(A)): optional(A)"],
    example: ["{'a': 1}.?b.or(optional.of(2)).value()", "2"],
  },
  orValue: {
    helper: "values/optional#orValue",
    doc: "The value of an optional, or another value if it is empty.",
    signatures: ["optional(A).orValue(A): A"],
    example: ["{'a': 1}.?b.orValue(0)", "0"],
  },
  first: {
    helper: "values/optional#first",
    doc: "The first element of a list, if it has one.",
    signatures: ["list(A).first(): optional(A)"],
    example: ["[1, 2].first().value()", "1"],
  },
  last: {
    helper: "values/optional#last",
    doc: "The last element of a list, if it has one.",
    signatures: ["list(A).last(): optional(A)"],
    example: ["[1, 2].last().value()", "2"],
  },
});
