import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

/** Pages that stand for all: the start, a tutorial, guides with tables and code, and each kind of reference. */
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

/**
 * Opens sample pages of the built site at three widths in both themes. Prints violations of axe and pages that are
 * wider than the window, and writes pictures to the folder in the first argument.
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
    const found = await inspectAll(browser, `http://127.0.0.1:${port}`, pictures);
    const count = SAMPLES.length * WIDTHS.length * THEMES.length;
    process.stdout.write(`${[...found, `${count} views, ${found.length} faults`].join("\n")}\n`);
    return found.length === 0 ? 0 : 1;
  } finally {
    await browser.close();
    server.close();
  }
}

async function inspectAll(
  browser: Browser,
  origin: string,
  pictures: string | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of THEMES) {
    const context = await browser.newContext({ colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    for (const sample of SAMPLES) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${origin}/${sample}.html`, { waitUntil: "load" });
        const view = `${sample} ${width} ${colorScheme}`;
        found.push(...(await inspect(page)).map((fault) => `${view}: ${fault}`));
        if (pictures === undefined) continue;
        const file = path.join(pictures, `${view.replace(/[/ ]/g, "-")}.png`);
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: file });
      }
    }
    await context.close();
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
