/** Marks what this module made. */
const made = Symbol("made by html.ts");

/** HTML text. Made by the `html` tag only: text in a hole is escaped, so that nothing of a configuration becomes markup. */
export interface Html {
  readonly [made]: true;
  readonly text: string;
}

type Hole = string | number | Html | readonly Html[];

/** HTML from a template; text and numbers in holes are escaped, in content and in quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  let text = strings[0] ?? "";
  holes.forEach((hole, index) => {
    text += holeText(hole) + (strings[index + 1] ?? "");
  });
  return { [made]: true, text };
}

/** Our own style sheet or script: the one way in for unescaped text. */
export function trustedHtml(text: string): Html {
  return { [made]: true, text };
}

function holeText(hole: Hole): string {
  if (typeof hole === "string" || typeof hole === "number") return escaped(String(hole));
  return "text" in hole ? hole.text : hole.map((each) => each.text).join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
