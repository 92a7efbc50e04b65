import { type Overload, parseSignature } from "../types/signature.ts";

/** A function, method or operator: data for the checker, the emitter and the reference. */
export interface FunctionDeclaration {
  /** Name: `startsWith`, `math.abs`; the operator `_+_` is `+`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** Runtime function: `functions/strings#startsWith`. It accepts and returns `undefined` for an error. */
  readonly helper: string;
  readonly doc: string;
  /** An example and its result, both in CEL; the reference shows it and a test runs it. */
  readonly example: readonly [expression: string, value: string];
  /** Whether two calls may differ: such a call is never evaluated at build time. */
  readonly isImpure: boolean;
  /** Whether its arguments may be evaluated although another one fails. */
  readonly isLazy: boolean;
  /** Minimum and maximum int of its results. */
  readonly range?: readonly [number, number];
}

interface VariableDefinition {
  readonly helper: string;
  readonly doc: string;
  readonly signatures: readonly string[];
  readonly example: readonly [expression: string, value: string];
  readonly isImpure?: boolean;
  readonly isLazy?: boolean;
  readonly range?: readonly [number, number];
}

/** Declares the functions of a library. */
export function declareFunctions(
  rows: Readonly<Record<string, VariableDefinition>>,
): readonly FunctionDeclaration[] {
  return Object.entries(rows).map(([name, row]) => ({
    name,
    overloads: row.signatures.map((signature) => parseSignature(signature, name)),
    helper: row.helper,
    doc: row.doc,
    example: row.example,
    isImpure: row.isImpure ?? false,
    isLazy: row.isLazy ?? false,
    ...(row.range === undefined ? {} : { range: row.range }),
  }));
}
