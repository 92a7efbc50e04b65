import type { Hover } from "vscode-languageserver";
import { diagnosticPage } from "../inspect/reference/diagnostics.ts";
import { markdownPage } from "../inspect/reference/documents.ts";
import { fieldAt } from "../inspect/reference/field-index.ts";
import { entryPage } from "../inspect/reference/field-page.ts";
import type { Page, Part } from "../inspect/reference/page.ts";
import { policyPage } from "../inspect/reference/policies.ts";
import { policies } from "../policies/index.ts";
import type { DocumentSchema } from "./field-reference.ts";
import type { NodeAt } from "./node-at.ts";

/** Returns the page of the field at a node, as `gwc explain` prints it; `undefined` if the schema does not define it. */
export function fieldPageAt(
  { path, part }: NodeAt,
  { form, schema, base }: DocumentSchema,
): Page | undefined {
  const below = path.slice(base.length);
  // The page of a whole document has all its fields: a second of work.
  if (below.length === 0) return undefined;
  const entry = fieldAt(form, schema, below);
  if (entry === undefined) return undefined;
  const name = String(below.at(-1));
  const policy = policies.find(({ kind }) => kind === name);
  const isPolicy = part === "key" && policy?.schema === entry.schema;
  return (isPolicy ? policyPage(name) : undefined) ?? entryPage(entry);
}

/** Renders Markdown and pages for a hover: fields of fields are left out, and long tables are cut. */
export function hoverOf(markdown: readonly string[], pages: readonly Page[]): Hover | undefined {
  const texts = [...markdown, ...pages.map((page) => markdownPage(short(page), TITLE_DEPTH))];
  if (texts.length === 0) return undefined;
  return { contents: { kind: "markdown", value: texts.join("\n\n---\n\n") } };
}

/** Returns the explanation of a diagnostic. */
export function explanationPages(codes: readonly string[]): readonly Page[] {
  return [...new Set(codes)].flatMap((code) => diagnosticPage(code) ?? []);
}

/** Headings of documents are too large for a hover. */
const TITLE_DEPTH = 3;

/** Maximum number of rows of a table. */
const MAX_ROWS = 25;

function short({ title, parts }: Page): Page {
  return { title, parts: parts.map((part) => shortPart(part, title)) };
}

function shortPart(part: Part, title: string): Part {
  if (part.kind !== "table") return part;
  const [first] = part.head;
  // Facts about a field, and the places that it is used in: a list is easier to read in a hover.
  if (first === "property" || first === "use") {
    const lines = part.rows.map(
      ([name = "", value = ""]) => `${name === "" ? "" : `${name}: `}${value}`,
    );
    return { kind: "paragraph", text: lines.map((line) => `- ${line}`).join("\n") };
  }
  const own = first === "field" ? part.rows.filter(([name = ""]) => !isNested(name)) : part.rows;
  const rest = own.length - MAX_ROWS;
  if (rest <= 0) return { ...part, rows: own };
  const more = [`and ${rest} more: \`gwc explain ${title}\``];
  const row = part.head.map((_, index) => more[index] ?? "");
  return { ...part, rows: [...own.slice(0, MAX_ROWS), row] };
}

/** Whether a field belongs to another one: `cors.maxAge`. */
function isNested(name: string): boolean {
  return name.includes(".");
}
