import type { ExpressionCode, HoistedConstant, ImportedName } from "../compiler/ir.ts";
import {
  type Code,
  code,
  type Hole,
  imported,
  importedType,
  join,
  name,
  verbatim,
} from "./code.ts";

/** An emitted expression as a hole: its text, with its imports remembered. */
export function expression({ text, imports }: ExpressionCode): Code {
  return withImports(text, imports);
}

/** The constants that an expression needs, as declarations of the module. */
export function constantsOf({ constants }: ExpressionCode): readonly Code[] {
  return constants.map(declaration);
}

function declaration({ name: constant, type, text, imports }: HoistedConstant): Code {
  const annotation: Hole = type === undefined ? [] : code`: ${verbatim(type)}`;
  return code`const ${name(constant)}${annotation} = ${withImports(text, imports)};`;
}

/** Text that the CEL compiler wrote. Each imported name stands in it as an import symbol, so that imports are collected. */
function withImports(text: string, imports: readonly ImportedName[]): Code {
  if (imports.length === 0) return verbatim(text);
  const symbols = new Map(
    imports.map((each) => [
      each.name,
      each.isType ? importedType(each.module, each.name) : imported(each.module, each.name),
    ]),
  );
  const pieces: Hole[] = [];
  for (const token of text.split(TOKENS)) {
    const symbol = symbols.get(token);
    pieces.push(symbol ?? verbatim(token));
  }
  return join(pieces, "");
}

/** Strings and property names stay whole, so that an imported name inside them is no name. */
const TOKENS = /("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\.\s*[A-Za-z_$][\w$]*|[A-Za-z_$][\w$]*)/;
