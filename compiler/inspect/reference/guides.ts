import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { guidesFolder } from "../../installation.ts";
import { heading, type Page, type Part, paragraph, table } from "./page.ts";

/** The names of the guides, as `gwc explain guide NAME` has them. */
export function guideNames(): readonly string[] {
  return readdirSync(guidesFolder)
    .map((file) => path.basename(file, ".md"))
    .sort();
}

/** The guide of that name; undefined when there is none. */
export function guidePage(name: string): Page | undefined {
  return guideNames().includes(name)
    ? pageOfMarkdown(readFileSync(path.join(guidesFolder, `${name}.md`), "utf8"))
    : undefined;
}

/** The page of a Markdown text: a title, then headings, paragraphs, lists, tables and fenced blocks, with empty lines between. */
function pageOfMarkdown(text: string): Page {
  const [title = "", ...blocks] =
    text.trim().match(/```[\s\S]*?\n```|[^\n](?:[^\n]|\n(?!\n))*/g) ?? [];
  return { title: title.replace(/^# /, ""), parts: blocks.flatMap(partsOf) };
}

function partsOf(block: string): readonly Part[] {
  const [fence, language = "", example = ""] = /^```(\w*)\n([\s\S]*)\n```$/.exec(block) ?? [];
  if (fence !== undefined) return [{ kind: "example", language, text: example }];
  // A terminal has no links.
  const text = block.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  if (text.startsWith("## ")) return [heading(text.slice("## ".length))];
  if (text.startsWith("| ")) {
    const [head = [], , ...rows] = text.split("\n").map(cells);
    return table(head, rows);
  }
  // An item of a list keeps its line, and the lines that continue it join it.
  return [paragraph(text.replace(/\n +/g, " "))];
}

function cells(row: string): readonly string[] {
  return row
    .replace(/^\| | \|$/g, "")
    .split(" | ")
    .map((cell) => cell.trim());
}
