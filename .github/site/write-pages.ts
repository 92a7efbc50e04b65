import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { CLIENTS, clientPages } from "./client-pages.ts";
import { referencePages } from "./reference-pages.ts";
import { type SitePage, sitePath, siteText } from "./site-text.ts";

const root = path.resolve(import.meta.dirname, "..", "..");

/** Documents of the repository that are pages as they are. */
const DOCUMENTS = [
  ".github/guides/**/*.md",
  ".github/decisions/*.md",
  ".github/reference/{expressions,compatibility,first-minutes,llm-table,llm-tools,mcp-clients,mistakes,performance}.md",
  ".github/{CHANGELOG,VERSIONING,SECURITY,CONTRIBUTING}.md",
];

/** Returns every page of the site: documents of the repository, the generated reference, tutorials and the start page. */
export async function sitePages(): Promise<readonly SitePage[]> {
  const read = (name: string) => readFileSync(path.join(root, name), "utf8");
  const found = globSync(DOCUMENTS, { cwd: root }).filter((name) => name !== CLIENTS);
  const documents = found.map((name) => {
    return { path: sitePath(name) ?? name, text: siteText(read(name), name) };
  });
  const own = globSync(".github/site/{index,tutorials/*}.md", { cwd: root }).map((name) => {
    return { path: path.relative(".github/site", name), text: read(name) };
  });
  return [...documents, ...own, ...clientPages(read(CLIENTS)), ...(await referencePages())];
}

/** Writes the pages to `pages`, which VitePress builds. */
async function writePages(): Promise<void> {
  const folder = path.join(import.meta.dirname, "pages");
  rmSync(folder, { recursive: true, force: true });
  const pages = await sitePages();
  for (const { path: name, text } of pages) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  cpSync(path.join(root, ".github/demo.svg"), path.join(folder, "public/demo.svg"));
  process.stdout.write(`${pages.length} pages in ${path.relative(process.cwd(), folder)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writePages();
