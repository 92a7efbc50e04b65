/** Words that can't name a variable in a module. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof undefined var void while with yield " +
    "Buffer Number Set Map Object Array String Boolean"
  ).split(" "),
);

/**
 * Gives the variables of macros their names: the user's own, with a word or a number after it where it is taken. Each
 * placeholder in the text is `\ue003name\ue004id\ue003`. A module may number the constants of several expressions, so a
 * variable keeps clear of a constant's name with any number.
 */
export function finishNames(
  text: string,
  taken: readonly string[],
  constants: readonly string[],
): string {
  const used = new Set(taken);
  const stems = new Set(constants.map(stemOf));
  const names = new Map<string, string>();
  const isTaken = (name: string) =>
    used.has(name) || RESERVED.has(name) || stems.has(name) || stems.has(stemOf(name));
  return text.replace(/\ue003(\w+)\ue004(\d+)\ue003/g, (_, proposal: string, id: string) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const stem = stems.has(stemOf(proposal)) ? `${proposal}Item` : proposal;
    let name = stem;
    for (let count = 2; isTaken(name); count += 1) name = `${stem}${count}`;
    used.add(name);
    names.set(id, name);
    return name;
  });
}

/** A name without the number after it. */
function stemOf(name: string): string {
  return name.replace(/\d+$/, "");
}

/** Whether code refers to a name: not in a string, not as a property. */
export function usesName(code: string, name: string): boolean {
  const plain = code.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return new RegExp(`(?<![\\w$.])${name}(?![\\w$]|:)`).test(plain);
}
