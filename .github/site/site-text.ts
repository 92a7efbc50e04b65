import path from "node:path";

/** A page of the site: its path below `pages`, and its Markdown. */
export interface SitePage {
  readonly path: string;
  readonly text: string;
}

/** The guide whose sections are pages of clients. */
const AGENTS = "guides/agents.md";

/** Documents that the site splits into a page for each of their chapters. */
const SPLIT = /^\.github\/reference\/(policies|backends|diagnostics|metrics|commands)\.md$/;

/** Returns the page of a file of the repository; `undefined` if it is not on the site. */
export function sitePath(file: string): string | undefined {
  const [, split] = SPLIT.exec(file) ?? [];
  if (split !== undefined) return `reference/${split}/index.md`;
  const [, below] = /^\.github\/((?:guides|decisions|reference)\/.*\.md)$/.exec(file) ?? [];
  if (below === AGENTS) return "clients/index.md";
  if (below !== undefined) return below;
  const [, name] = /^\.github\/([A-Z]+)\.md$/.exec(file) ?? [];
  return name === undefined ? undefined : `project/${name.toLowerCase()}.md`;
}

/** Returns the anchor of a heading as GitHub forms it, so that links work there and on the site. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Converts Markdown of the repository to that of the site: links, and characters that VitePress would interpret. */
export function siteText(text: string, file: string): string {
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part, index) => (index % 2 === 1 ? part : prose(part, file))).join("");
}

function prose(text: string, file: string): string {
  const linked = text.replace(/\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)/g, (_, label, link) =>
    siteLink(label, link, file),
  );
  return linked
    .split(/(`[^`\n]+`)/)
    .map((part, index) => (index % 2 === 1 ? part : escaped(part)))
    .join("");
}

/** Vue interprets tags and double braces; line breaks of cells stay. */
function escaped(text: string): string {
  return text.replace(/<(?!br>)/g, "&lt;").replaceAll("{{", "&#123;&#123;");
}

function siteLink(label: string, link: string, file: string): string {
  // Patterns such as `[a-z]([-a-z]*)` read like links.
  if (!/^[\w./#-]+$/.test(link)) return `\\[${label}\\](${link})`;
  if (link.startsWith("/")) return `[${label}](${link})`;
  const [target = "", anchor] = link.split("#");
  const found = path.posix.join(path.posix.dirname(file), target);
  const page = sitePath(found);
  if (page === undefined) {
    const repository = process.env.GITHUB_REPOSITORY;
    // Outside of a workflow, the address of the repository is unknown.
    if (repository === undefined) return label;
    return `[${label}](https://github.com/${repository}/blob/main/${found})`;
  }
  const isChapter = anchor !== undefined && (SPLIT.test(found) || page.startsWith("clients/"));
  const own = isChapter ? page.replace("index", anchor) : page;
  const hash = anchor === undefined || isChapter ? "" : `#${anchor}`;
  return `[${label}](/${own}${hash})`;
}
