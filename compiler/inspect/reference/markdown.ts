import type { Page, Part, Row } from "./page.ts";

/** Renders pages as one Markdown document; pages after the first are its chapters. */
export function markdownDocument([first, ...chapters]: readonly Page[]): string {
  if (first === undefined) return "";
  const texts = [markdownPage(first, 1), ...chapters.map((page) => markdownPage(page, 2))];
  return `${texts.join("\n\n")}\n`;
}

function markdownPage({ title, parts }: Page, depth: number): string {
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
