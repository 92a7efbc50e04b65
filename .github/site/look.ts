import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

/**
 * Pages that are seen in every window: the start, a tutorial, guides with tables and code, and each kind of reference.
 * Each of the others is seen in one window.
 */
const SAMPLES = [
  "index",
  ...["tutorials/first-gateway", "guides/mcp", "guides/policies", "guides/explain/diff"],
  ...["reference/index", "reference/policies/cors", "reference/backends/mcp"],
  ...["reference/fields/index", "reference/diagnostics/alias-bomb", "reference/metrics/index"],
  ...["reference/commands/run", "reference/mistakes", "project/changelog"],
];
const WIDTHS = [360, 900, 1440];
const THEMES = ["light", "dark"] as const;

const dist = path.join(import.meta.dirname, "dist");
const axe = path.join(import.meta.dirname, "node_modules/axe-core/axe.min.js");

/** A page in a window of a width, in a theme. */
interface View {
  readonly name: string;
  readonly width: number;
  readonly colorScheme: (typeof THEMES)[number];
}

/**
 * Opens all pages of the built site: samples at three widths in both themes, each of the others in one of these windows
 * in turn. Prints violations of axe and pages that are wider than the window, and writes pictures of the samples to the
 * folder in the first argument.
 */
async function look(pictures: string | undefined): Promise<number> {
  const server = serve();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const views = allViews();
    const found = await inspectAll(browser, `http://127.0.0.1:${port}`, views, pictures);
    const pages = new Set(views.map(({ name }) => name)).size;
    const summary = `${pages} pages in ${views.length} views, ${found.length} faults`;
    process.stdout.write(`${[...found, summary].join("\n")}\n`);
    return found.length === 0 ? 0 : 1;
  } finally {
    await browser.close();
    server.close();
  }
}

/** The views of all pages, by window, because resizing a window costs time. */
function allViews(): readonly View[] {
  const windows = THEMES.flatMap((colorScheme) => WIDTHS.map((width) => ({ width, colorScheme })));
  const others = globSync("**/*.html", { cwd: dist })
    .map((file) => file.replace(/\.html$/, ""))
    .filter((name) => name !== "404" && !SAMPLES.includes(name))
    .toSorted();
  return windows.flatMap((window, index) => {
    const own = others.filter((_, place) => place % windows.length === index);
    return [...SAMPLES, ...own].map((name) => ({ name, ...window }));
  });
}

async function inspectAll(
  browser: Browser,
  origin: string,
  views: readonly View[],
  pictures: string | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  const page = await browser.newPage({ reducedMotion: "reduce" });
  for (const { name, width, colorScheme } of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${origin}/${name}.html`, { waitUntil: "load" });
    const view = `${name} ${width} ${colorScheme}`;
    found.push(...(await inspect(page)).map((fault) => `${view}: ${fault}`));
    if (pictures === undefined || !SAMPLES.includes(name)) continue;
    const file = path.join(pictures, `${view.replace(/[/ ]/g, "-")}.png`);
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: file });
  }
  return found;
}

/** Faults of the page in the window: its width, and each violation of axe with the first element that has it. */
async function inspect(page: Page): Promise<readonly string[]> {
  await page.addScriptTag({ path: axe });
  const result: { readonly excess: number; readonly violations: readonly string[] } =
    await page.evaluate(`(async () => {
      const { violations } = await axe.run(document);
      return {
        excess: document.documentElement.scrollWidth - innerWidth,
        violations: violations.map(({ id, nodes }) =>
          id + " in " + nodes.length + " elements, first " + nodes[0].target.join(" ")),
      };
    })()`);
  const wide = result.excess > 0 ? [`${result.excess} pixels wider than the window`] : [];
  return [...wide, ...result.violations];
}

/** Serves the folder that VitePress has built. */
function serve(): Server {
  const types: Readonly<Record<string, string>> = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
  };
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site");
    const file = path.join(dist, pathname === "/" ? "index.html" : path.posix.normalize(pathname));
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const type = types[path.extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(readFileSync(file));
  });
}

process.exitCode = await look(process.argv[2]);
