import { type Operation, operation } from "../diagram/diagrams.ts";

/** CEL's logic on diagrams of truths: an error is absorbed by what decides without it. */
export interface TruthOperations {
  readonly and: Operation;
  readonly or: Operation;
  readonly not: Operation;
  /** Of a test and a value: the value where the test is true. */
  readonly whenTrue: Operation;
  /** Of a test and a value: the value where the test is false, an error where it fails. */
  readonly whenFalse: Operation;
  /** What the two before give together. */
  readonly either: Operation;
}

/** The operations for one set of diagrams, which keeps what they made. */
export function truthOperations(): TruthOperations {
  const joined = (decisive: string) => (a: string, b: string) => {
    if (a === decisive || b === decisive) return decisive;
    return a === "error" ? a : b;
  };
  return {
    and: operation(joined("false")),
    or: operation(joined("true")),
    not: operation((value) => OPPOSITE[value] ?? value),
    whenTrue: operation((test, value) => (test === "true" ? value : "")),
    whenFalse: operation((test, value) =>
      test === "false" ? value : test === "error" ? test : "",
    ),
    either: operation((a, b) => (a === "" ? b : a)),
  };
}

const OPPOSITE: Readonly<Record<string, string>> = { true: "false", false: "true" };
