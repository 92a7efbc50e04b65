import type { Expression, HoistedConstant, LocalName, Name } from "../../../templates/code/hole.ts";
import { name } from "../../../templates/code/names.ts";
import { nodesOf, renamed } from "../../../templates/code/syntax.ts";

/** Words that cannot be the name of a variable in a module. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof undefined var void while with yield " +
    "Buffer Number Set Map Object Array String Boolean"
  ).split(" "),
);

/**
 * Names the variables of macros: with the user's name, plus a word or a number if it is taken. A module may number the
 * constants of several expressions, so a variable avoids the name of a constant with any number.
 */
export function nameLocals(expression: Expression, variables: Iterable<string>): Expression {
  const everything = [...withInitializers(expression)];
  const imports = everything.flatMap((node) => (node.kind === "import" ? [node.name] : []));
  const constants = everything.flatMap((node) => (node.kind === "constant" ? [node.proposal] : []));
  return withNames(expression, [...variables, ...imports], new Set(constants.map(stemOf)));
}

/** Traverses an expression, including the initializers of its constants. */
function* withInitializers(expression: Expression): Generator<Expression> {
  for (const node of nodesOf(expression)) {
    yield node;
    if (node.kind === "constant") yield* withInitializers(node.initializer);
  }
}

function withNames(
  expression: Expression,
  taken: readonly string[],
  stems: ReadonlySet<string>,
): Expression {
  const used = new Set(taken);
  const names = new Map<LocalName, Name>();
  const isTaken = (text: string) =>
    used.has(text) || RESERVED.has(text) || stems.has(text) || stems.has(stemOf(text));
  return renamed(expression, (reference: LocalName | HoistedConstant) => {
    if (reference.kind === "constant") {
      return { ...reference, initializer: withNames(reference.initializer, taken, stems) };
    }
    const known = names.get(reference);
    if (known !== undefined) return known;
    const { proposal } = reference;
    const stem = stems.has(stemOf(proposal)) ? `${proposal}Item` : proposal;
    let text = stem;
    for (let count = 2; isTaken(text); count += 1) text = `${stem}${count}`;
    used.add(text);
    const found = name(text);
    names.set(reference, found);
    return found;
  });
}

/** Returns a name without the number at its end. */
function stemOf(text: string): string {
  return text.replace(/\d+$/, "");
}
