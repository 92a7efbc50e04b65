import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { anchorOf } from "../site-text.ts";

const pages = path.resolve(import.meta.dirname, "..", "pages");

/**
 * Returns the title of a page as plain text, up to a colon; the colon after the number of a decision is part of it.
 */
function titleOf(file: string): string {
  const text = readFileSync(path.join(pages, file), "utf8");
  return (/^# ((?:\d+: )?[^:\n]+)/m.exec(text)?.[1] ?? file).replaceAll("`", "");
}

/** The pages of a folder, as items of the sidebar. */
function items(folder: string, text = (name: string) => titleOf(`${folder}/${name}.md`)) {
  return readdirSync(path.join(pages, folder))
    .filter((file) => file.endsWith(".md") && file !== "index.md")
    .map((file) => path.basename(file, ".md"))
    .map((name) => ({ text: text(name), link: `/${folder}/${name}` }));
}

/** Tutorials in the order in which people read them. */
const tutorials = [
  ...["first-gateway", "protect-an-mcp-server", "model-gateway-for-a-team"],
  ...["review-in-pull-requests", "kubernetes", "from-litellm", "from-agentgateway", "from-nginx"],
];

/** Guides by the question that they answer; a guide that is in no group is under "More". */
const guideGroups = [
  ["Concepts", ["concepts", "listeners", "backends", "policies"]],
  ["Agents, tools and models", ["mcp", "models", "media", "agents", "guards", "limits", "keys"]],
  ["Access", ["logins", "callouts", "security", "reviews"]],
  [
    "Operations",
    [
      "running",
      "admin",
      "deploy",
      "tls",
      "grpc",
      "egress",
      "observability",
      "capacity",
      "upgrades",
    ],
  ],
  ["Kubernetes", ["kubernetes", "controller"]],
] as const;

/** The guides of each group, in its order, and the rest. */
function guideItems() {
  const all = items("guides");
  const linkOf = (name: string) => `/guides/${name}`;
  const grouped = guideGroups.map(([text, names]) => ({
    text,
    items: names.flatMap((name) => all.filter(({ link }) => link === linkOf(name))),
  }));
  const named = new Set<string>(guideGroups.flatMap(([, names]) => names.map(linkOf)));
  const rest = all.filter(({ link }) => !named.has(link));
  return rest.length === 0 ? grouped : [...grouped, { text: "More", items: rest }];
}

const repository = process.env.GITHUB_REPOSITORY;

type Render = (tokens: unknown, index: number, ...rest: readonly unknown[]) => string;

/** Vue would read double braces in code as expressions. Long paths of fields break at their dots. */
function inlineCode({
  renderer: { rules },
}: {
  readonly renderer: { readonly rules: Record<string, Render> };
}): void {
  const render = rules.code_inline;
  if (render !== undefined)
    rules.code_inline = (...given) =>
      render(...given)
        .replace("<code", "<code v-pre")
        .replace(/\.(?=\w)/g, ".<wbr>");
}

/** Splits text into words, also names: "rate limit" finds `localRateLimit`. Runs in the reader's browser, too. */
function words(text: string): readonly string[] {
  return text.split(/[\s\p{P}]+|(?<=[a-z])(?=[A-Z])/u);
}

/** Weighs the pages that explain a subject more than those of one field or one message. Runs in the reader's browser. */
function boostDocument(id: string): number {
  if (/\/(?:guides|tutorials|clients|reference\/policies|reference\/backends)\//.test(id)) return 2;
  return /\/reference\/(?:fields|diagnostics|metrics)\/\w/.test(id) ? 0.5 : 1;
}

// A plain object, so that the compiler of the repository needs no types of VitePress.
export default {
  title: "gwc",
  description: "The gateway compiler: AI gateways as readable, specialised TypeScript proxies.",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  base: process.env.SITE_BASE ?? "/",
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    anchor: { slugify: anchorOf },
    config: inlineCode,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    search: {
      provider: "local",
      options: { miniSearch: { options: { tokenize: words }, searchOptions: { boostDocument } } },
    },
    outline: [2, 3],
    nav: [
      { text: "Tutorials", link: "/tutorials/first-gateway" },
      { text: "Guides", link: "/guides/concepts" },
      { text: "Clients", link: "/clients/" },
      { text: "Reference", link: "/reference/" },
      { text: "Project", link: "/project/changelog" },
    ],
    sidebar: {
      "/tutorials/": [
        {
          text: "Tutorials",
          items: tutorials.map((name) => ({
            text: titleOf(`tutorials/${name}.md`),
            link: `/tutorials/${name}`,
          })),
        },
      ],
      "/guides/": [
        ...guideItems(),
        { text: "Commands in use", items: items("guides/explain", (name) => `gwc ${name}`) },
      ],
      "/clients/": [
        { text: "Clients", items: [{ text: "Overview", link: "/clients/" }, ...items("clients")] },
      ],
      "/reference/": [
        {
          text: "Reference",
          items: [
            { text: "Overview", link: "/reference/" },
            { text: "Sections of the file", link: "/reference/fields/" },
            { text: "Diagnostics", link: "/reference/diagnostics/" },
            { text: "Metrics", link: "/reference/metrics/" },
            ...items("reference"),
          ],
        },
        { text: "Policies", items: items("reference/policies") },
        { text: "Backends", items: items("reference/backends") },
        { text: "Commands", items: items("reference/commands") },
      ],
      "/project/": [
        { text: "Project", items: items("project") },
        { text: "Decisions", items: items("decisions") },
      ],
      "/decisions/": [{ text: "Decisions", items: items("decisions") }],
    },
    ...(repository !== undefined && {
      socialLinks: [{ icon: "github", link: `https://github.com/${repository}` }],
    }),
    footer: { message: "Apache-2.0" },
  },
};
