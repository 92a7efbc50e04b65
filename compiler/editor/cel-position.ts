import { isScalar, type Scalar } from "yaml";
import type { CelPhase } from "../cel/variables/variables.ts";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import { scalarRange } from "../diagnostics/source.ts";
import type { DocumentContext } from "./document-context.ts";
import { phaseAt } from "./field-reference.ts";
import { nodeAt, visitScalars } from "./node-at.ts";

/** An expression in a document. */
export interface WrittenExpression {
  readonly text: string;
  readonly phase: CelPhase;
  /** Converts offsets in the expression to offsets in the document. */
  readonly rangeOf: (start: number, end: number) => readonly [start: number, end: number];
  readonly path: ConfigPath;
}

/** An offset in an expression. */
export interface ExpressionPosition extends WrittenExpression {
  readonly offset: number;
}

/** Returns the expression at an offset; `undefined` if there is none. Spaces at its end, which YAML drops, belong to it. */
export function expressionAt(
  context: DocumentContext,
  offset: number,
): ExpressionPosition | undefined {
  const { text } = context.source;
  let wordEnd = offset;
  while (" \t".includes(text.charAt(wordEnd - 1) || "\n")) wordEnd--;
  const spaces = text.slice(wordEnd, offset);
  const at = nodeAt(context.source, offset) ?? nodeAt(context.source, wordEnd);
  if (at === undefined || !isScalar(at.node) || at.part === "key") return undefined;
  const schema = context.reference.schemaOf(context.source, at.document, at.path);
  const phase = schema && phaseAt(schema, at.path);
  if (phase === undefined) return undefined;
  const written = writtenExpression(at.node, at.path, phase, context);
  const inside = valueOffset(written, offset);
  const missing = offset > written.rangeOf(written.text.length, written.text.length)[1];
  return {
    ...written,
    text: missing ? `${written.text}${spaces}` : written.text,
    offset: missing ? inside + spaces.length : inside,
  };
}

/** Returns the expressions of a document. */
export function expressionsIn(context: DocumentContext): readonly WrittenExpression[] {
  const found: WrittenExpression[] = [];
  for (const [document, { yaml }] of context.source.documents.entries())
    visitScalars(yaml.contents, [], (scalar, path, part) => {
      const schema = context.reference.schemaOf(context.source, document, path);
      const phase = part === "value" ? schema && phaseAt(schema, path) : undefined;
      if (phase !== undefined) found.push(writtenExpression(scalar, path, phase, context));
    });
  return found;
}

function writtenExpression(
  scalar: Scalar,
  path: ConfigPath,
  phase: CelPhase,
  { source }: DocumentContext,
): WrittenExpression {
  return {
    text: typeof scalar.value === "string" ? scalar.value : (scalar.source ?? ""),
    phase,
    rangeOf: (start, end) => scalarRange(source.text, scalar, [start, end]),
    path,
  };
}

/** Returns the offset in an expression of an offset in the document. */
function valueOffset({ text, rangeOf }: WrittenExpression, offset: number): number {
  let [from, to] = [0, text.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (rangeOf(middle, middle)[0] < offset) from = middle + 1;
    else to = middle;
  }
  return from;
}
