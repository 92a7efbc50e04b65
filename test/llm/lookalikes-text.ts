import { blanksOfNames, lookalikesOfNames } from "./lookalike-names.ts";

/** The path of the table. */
export const LOOKALIKES_FILE = "runtime/patterns/lookalikes.ts";

/** The module with the table, as `npm run lookalikes` writes it. */
export function lookalikesText(): string {
  const { sole, eitherCase } = lookalikesOfNames();
  return `// Written by "npm run lookalikes" from the names in the Unicode Character Database.

/** Characters by what they look like, for those without a decomposition in Unicode. */
export const LOOKALIKES: Readonly<Record<string, string>> = ${record(sole)};

/** Characters that have one case only, by what they read as in capitals: they are read in either case. */
export const ONE_CASE_LOOKALIKES: Readonly<Record<string, string>> = ${record(eitherCase)};

/** Characters that are shown as a blank: they are read as a space, or as nothing. */
export const BLANKS = ${wrapped(blanksOfNames())};
`;
}

function record(map: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...map].map(([reading, characters]) => {
    const key = /^(?:[1-9]?[0-9]|[A-Za-z]+)$/.test(reading) ? reading : JSON.stringify(reading);
    return `  ${key}: ${wrapped(characters)},`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

/** Code points in hexadecimal, as short runs. */
function wrapped(characters: readonly string[]): string {
  const codes = characters.map((each) => (each.codePointAt(0) ?? 0).toString(16));
  const rows: string[] = [];
  for (const code of codes) {
    const last = rows.at(-1);
    if (last === undefined || last.length + code.length > 84) rows.push(code);
    else rows[rows.length - 1] = `${last} ${code}`;
  }
  const [first = ""] = rows;
  if (rows.length === 1) return `"${first}"`;
  return `\n    ${rows.map((row, at) => `"${row}${at === rows.length - 1 ? "" : " "}"`).join(" +\n    ")}`;
}
