import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { guidesFolder } from "../../installation.ts";
import { heading, type Page, type Part, paragraph, table } from "./page.ts";

/** Lists the names of the guides, for `gwc explain guide NAME`. */
export function guideNames(): readonly string[] {
  return readdirSync(guidesFolder)
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.basename(file, ".md"))
    .sort();
}

/** Returns a guide; `undefined` if the name is unknown. */
export function guidePage(name: string): Page | undefined {
  return guideNames().includes(name) ? markdownFile(`${name}.md`) : undefined;
}

/** Commands that need more documentation than their help, in the order of the list. */
export const DOCUMENTED_COMMANDS: readonly string[] = [
  ...["diff", "can", "test", "audit", "review", "lock", "graph", "import"],
];

/** Returns a page of `gwc explain` that is written in Markdown: of a command or of MCP's eras; `undefined` for other names. */
export function writtenPage(name: string): Page | undefined {
  const isWritten = name === "eras" || DOCUMENTED_COMMANDS.includes(name);
  return isWritten ? markdownFile(`explain/${name}.md`) : undefined;
}

function markdownFile(file: string): Page {
  return pageOfMarkdown(readFileSync(path.join(guidesFolder, file), "utf8"));
}

/** Parses Markdown: a title, then headings, paragraphs, lists, tables and fenced blocks, separated by empty lines. */
function pageOfMarkdown(text: string): Page {
  const [title = "", ...blocks] =
    text.trim().match(/```[\s\S]*?\n```|[^\n](?:[^\n]|\n(?!\n))*/g) ?? [];
  return { title: title.replace(/^# /, ""), parts: blocks.flatMap(partsOf) };
}

function partsOf(block: string): readonly Part[] {
  const [fence, language = "", example = ""] = /^```(\w*)[^\n]*\n([\s\S]*)\n```$/.exec(block) ?? [];
  if (fence !== undefined) return [{ kind: "example", language, text: example }];
  // Terminals have no links.
  const text = block.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  if (text.startsWith("## ")) return [heading(text.slice("## ".length))];
  if (text.startsWith("| ")) {
    const [head = [], , ...rows] = text.split("\n").map(cells);
    return table(head, rows);
  }
  // List items keep their lines; continuation lines are joined.
  return [paragraph(text.replace(/\n +/g, " "))];
}

function cells(row: string): readonly string[] {
  return row
    .replace(/^\| | \|$/g, "")
    .split(" | ")
    .map((cell) => cell.trim());
}
