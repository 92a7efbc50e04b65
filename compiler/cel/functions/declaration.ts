import { type Overload, parseSignature } from "../types/signature.ts";

/** A function, method or operator: data for the checker, the emitter and the reference. */
export interface FunctionDeclaration {
  /** `startsWith`, `math.abs`, `_+_` is `+`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** The runtime function that does it: `functions/strings#startsWith`. It takes and gives `undefined` for an error. */
  readonly helper: string;
  readonly doc: string;
  /** An expression and what it gives, both CEL; the reference shows it and a test runs it. */
  readonly example: readonly [expression: string, value: string];
  /** True when two calls may differ: such a call is never evaluated at build. */
  readonly isImpure: boolean;
  /** True when its arguments may be evaluated though another one fails. */
  readonly isLazy: boolean;
  /** The smallest and largest int that it gives. */
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

/** Declares the functions of one library. */
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
