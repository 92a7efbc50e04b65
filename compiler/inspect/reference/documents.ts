import { backendPages } from "./backends.ts";
import { diagnosticPages } from "./diagnostics.ts";
import { expressionsPage } from "./expressions.ts";
import { metricsPage } from "./metrics.ts";
import type { Page, Part, Row } from "./page.ts";
import { policyPages } from "./policies.ts";

/** A document of the reference: file name and Markdown. */
export interface ReferenceDocument {
  readonly file: string;
  readonly text: string;
}

/** Returns the reference as documents, from the same generated pages that `gwc explain` prints. */
export function referenceDocuments(): readonly ReferenceDocument[] {
  return [
    { file: "policies.md", text: markdownDocument(policyPages()) },
    { file: "backends.md", text: markdownDocument(backendPages()) },
    { file: "expressions.md", text: markdownDocument([expressionsPage()]) },
    { file: "metrics.md", text: markdownDocument([metricsPage()]) },
    { file: "diagnostics.md", text: markdownDocument(diagnosticPages()) },
  ];
}

/** Renders pages as one Markdown document; pages after the first are its chapters. */
export function markdownDocument([first, ...chapters]: readonly Page[]): string {
  if (first === undefined) return "";
  const texts = [markdownPage(first, 1), ...chapters.map((page) => markdownPage(page, 2))];
  return `${texts.join("\n\n")}\n`;
}

/** Renders a page as Markdown whose title has a heading of this depth. */
export function markdownPage({ title, parts }: Page, depth: number): string {
  return [`${"#".repeat(depth)} ${title}`, ...parts.map((part) => markdownPart(part, depth))].join(
    "\n\n",
  );
}

function markdownPart(part: Part, depth: number): string {
  switch (part.kind) {
    case "paragraph":
      return part.text;
    case "heading":
      return `${"#".repeat(depth + 1)} ${part.text}`;
    case "example":
      return `\`\`\`${part.language}\n${part.text.trimEnd()}\n\`\`\``;
    case "table":
      return markdownTable(part.head, part.rows);
  }
}

/** Renders a Markdown table and escapes bars and line breaks in cells. */
function markdownTable(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", "<br>");
}
