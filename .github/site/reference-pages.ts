import { commands } from "../../compiler/commands/commands.ts";
import { perform } from "../../compiler/commands/perform.ts";
import { memoryHost } from "../../compiler/host.ts";
import { backendPages } from "../../compiler/inspect/reference/backends.ts";
import { diagnosticPages } from "../../compiler/inspect/reference/diagnostics.ts";
import { markdownPage } from "../../compiler/inspect/reference/documents.ts";
import { allFields } from "../../compiler/inspect/reference/field-index.ts";
import {
  fieldNames,
  fieldPage,
  fileSections,
} from "../../compiler/inspect/reference/field-page.ts";
import { metricsPage } from "../../compiler/inspect/reference/metrics.ts";
import { type Page, paragraph } from "../../compiler/inspect/reference/page.ts";
import { policyPages } from "../../compiler/inspect/reference/policies.ts";
import { metricGroups } from "../../compiler/observability/metric-groups.ts";
import { diagnosticExamples } from "./diagnostic-examples.ts";
import { type SitePage, siteText } from "./site-text.ts";

/** Returns a page for each policy, backend, diagnostic, metric, command, and name of a field. */
export async function referencePages(): Promise<readonly SitePage[]> {
  const pages = [
    page("reference/index.md", OVERVIEW),
    ...chapters("policies", policyPages()),
    ...chapters("backends", backendPages()),
    ...withExamples(chapters("diagnostics", diagnosticPages())),
    ...metricPages(),
    ...(await commandPages()),
    ...fieldPages(),
  ];
  return pages.map(withFrontmatter);
}

/** Pages that the sidebar does not have. */
const UNLISTED = /^reference\/(?:diagnostics|metrics|fields)\/(?!index\.)/;

function withFrontmatter({ path, text }: SitePage): SitePage {
  const settings = [
    // VitePress would name the first page of the sidebar as the next one.
    ...(UNLISTED.test(path) ? ["prev: false", "next: false"] : []),
    ...(text.includes("| field | type | what it is |") ? ["pageClass: field-tables"] : []),
  ];
  if (settings.length === 0) return { path, text };
  return { path, text: `${["---", ...settings, "---"].join("\n")}\n\n${text}` };
}

const OVERVIEW = `# Reference

Every page is generated from the descriptions that \`gwc\` enforces, so it cannot differ from the program.

| pages | the same in a terminal |
| --- | --- |
| [Policies](/reference/policies/) in the order of a request | \`gwc explain cors\` |
| [Backends](/reference/backends/) | \`gwc explain mcp\` |
| [Fields](/reference/fields/) of files and manifests | \`gwc explain cors.allowOrigins\` |
| [Expressions](/reference/expressions): variables and functions of CEL | \`gwc explain expressions\` |
| [Commands](/reference/commands/) with their options | \`gwc COMMAND --help\` |
| [Diagnostics](/reference/diagnostics/) by their codes | \`gwc explain CODE\` |
| [Metrics](/reference/metrics/) and alerts | \`gwc explain metrics\` |
| [MCP clients](/reference/mcp-clients) with nine servers behind one endpoint | |
| [A hundred mistakes](/reference/mistakes) with their messages | \`gwc check\` |
`;

function page(path: string, text: string): SitePage {
  return { path, text: `${siteText(text, `.github/${path}`)}\n` };
}

/** A page for each chapter, and one that lists them. Introductions already have a table of policies and of backends. */
function chapters(name: string, [introduction, ...own]: readonly Page[]): readonly SitePage[] {
  if (introduction === undefined) return [];
  const slugs = own.map(({ title }) => slugOf(title));
  const hasTable = introduction.parts.some(({ kind }) => kind === "table");
  const list = own.map(({ title }, at) => `- [${title}](/reference/${name}/${slugs[at]}.md)`);
  const text = markdownPage(introduction, 1);
  const index = hasTable
    ? text.replace(/^\| `([\w-]+)` \|/gm, (row, each) =>
        slugs.includes(each) ? `| [\`${each}\`](/reference/${name}/${each}.md) |` : row,
      )
    : `${text}\n\n${list.join("\n")}`;
  const single = own.map((each, at) =>
    page(`reference/${name}/${slugs[at]}.md`, markdownPage(each, 1)),
  );
  return [{ path: `reference/${name}/index.md`, text: `${siteText(index, "")}\n` }, ...single];
}

/** Adds an example to the page of each code that has one. */
function withExamples(pages: readonly SitePage[]): readonly SitePage[] {
  const examples = diagnosticExamples();
  return pages.map(({ path, text }) => {
    const [, code = ""] = /([\w-]+)\.md$/.exec(path) ?? [];
    const example = examples.get(code);
    return { path, text: example === undefined ? text : `${text}\n${example}\n` };
  });
}

/** `error[alias-bomb]` is at `alias-bomb`. */
function slugOf(title: string): string {
  return /\[(.+)\]$/.exec(title)?.[1] ?? title;
}

function metricPages(): readonly SitePage[] {
  const names = metricGroups.flatMap(({ metrics }) => metrics.map(({ name }) => name));
  const index = markdownPage(metricsPage(), 1).replace(/^\| `(\w+)` \|/gm, (row, name) =>
    names.includes(name) ? `| [\`${name}\`](/reference/metrics/${name}.md) |` : row,
  );
  const single = metricGroups.flatMap(({ title, metrics }) =>
    metrics.map(({ name, kind, labels, help }) => {
      const own = labels.map((label) => `- \`${label}\``);
      const text = `# ${name}\n\n${help}\n\nType: ${kind}. Group: ${title}.\n`;
      const listed = own.length === 0 ? "It has no labels." : `## Labels\n\n${own.join("\n")}`;
      return page(`reference/metrics/${name}.md`, `${text}\n${listed}`);
    }),
  );
  return [{ path: "reference/metrics/index.md", text: `${siteText(index, "")}\n` }, ...single];
}

async function commandPages(): Promise<readonly SitePage[]> {
  const rows = commands.map(
    ({ name, summary }) => `| [\`gwc ${name}\`](/reference/commands/${name}.md) | ${summary} |`,
  );
  const index = `# Commands\n\n| command | what it does |\n| --- | --- |\n${rows.join("\n")}`;
  const single = commands.map(async ({ name }) => {
    const { stdout = "" } = await perform([name, "--help"], {
      host: memoryHost({}),
      isColored: { stdout: false, stderr: false },
      isTerminal: { stdout: false, stderr: false },
      columns: 80,
      progress: () => {},
      print: () => {},
    });
    return page(`reference/commands/${name}.md`, `# gwc ${name}\n\n\`\`\`text\n${stdout}\`\`\``);
  });
  return [
    { path: "reference/commands/index.md", text: `${siteText(index, "")}\n` },
    ...(await Promise.all(single)),
  ];
}

/** Rows of a table from which a page lists only the fields directly below: `binds` has thousands below it. */
const MANY_ROWS = 150;

function shortened({ title, parts }: Page): Page {
  const short = parts.map((part) => {
    if (part.kind !== "table" || part.rows.length < MANY_ROWS) return part;
    const direct = part.rows.filter(([name = ""]) => /^`(?:\[\]\.)?[^.]*`$/.test(name));
    return { ...part, rows: direct };
  });
  return { title, parts: short };
}

/** A page for each name of a field, as `gwc explain NAME` prints it: several meanings are listed with their places. */
function fieldPages(): readonly SitePage[] {
  const fields = allFields();
  const names = fieldNames(fields).filter((name) => /^\w[\w.-]*$/.test(name));
  // Names that differ in case only would be one file on some systems.
  const once = [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
  const found = once.flatMap((name) => {
    const own = fieldPage(name, fields);
    return own === undefined ? [] : [{ name, page: shortened(own) }];
  });
  const sections = fileSections(fields).map(([name, description]) => {
    const hasPage = found.some((each) => each.name === name);
    const shown = hasPage ? `[\`${name}\`](/reference/fields/${name}.md)` : `\`${name}\``;
    return `| ${shown} | ${description} |`;
  });
  const all = found.map(({ name }) => `[\`${name}\`](/reference/fields/${name}.md)`).join(", ");
  const index = markdownPage(
    {
      title: "Fields",
      parts: [paragraph("Sections of `gateway.yaml`, and every name of a field.")],
    },
    1,
  );
  const table = `| section | what it is |\n| --- | --- |\n${sections.join("\n")}`;
  return [
    {
      path: "reference/fields/index.md",
      text: `${siteText(`${index}\n\n${table}\n\n## All names\n\n${all}`, "")}\n`,
    },
    ...found.map(({ name, page: own }) =>
      page(`reference/fields/${name}.md`, markdownPage(own, 1)),
    ),
  ];
}
