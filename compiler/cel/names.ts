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
 * Gives the variables of macros their names: the user's own, with a number where it is taken. Each placeholder in the
 * text is `\ue003name\ue004id\ue003`.
 */
export function finishNames(text: string, taken: readonly string[]): string {
  const used = new Set(taken);
  const names = new Map<string, string>();
  return text.replace(/\ue003(\w+)\ue004(\d+)\ue003/g, (_, proposal: string, id: string) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    let name = proposal;
    for (let count = 2; used.has(name) || RESERVED.has(name); count += 1)
      name = `${proposal}${count}`;
    used.add(name);
    names.set(id, name);
    return name;
  });
}

/** Whether code refers to a name: not in a string, not as a property. */
export function usesName(code: string, name: string): boolean {
  const plain = code.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return new RegExp(`(?<![\\w$.])${name}(?![\\w$]|:)`).test(plain);
}
