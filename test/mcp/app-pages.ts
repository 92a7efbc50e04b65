import { createServer } from "node:http";
import path from "node:path";
import { build } from "esbuild";
import { listen } from "../harness/listen.ts";
import { root } from "../harness/root.ts";

/** Returns a page that runs a script of the fixtures. */
export async function pageOf(script: "app-host.mjs" | "app-view.mjs"): Promise<string> {
  const built = await build({
    entryPoints: [path.join(root, "test/mcp/fixtures", script)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  const text = built.outputFiles[0]?.text.replaceAll("</script", "<\\/script") ?? "";
  return `<!doctype html><meta charset="utf-8"><body><script type="module">${text}</script>`;
}

/** Starts the site of a page that hosts apps, and returns its origin. */
export async function startHostPage(): Promise<string> {
  const html = await pageOf("app-host.mjs");
  const site = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(html);
  });
  return `http://127.0.0.1:${await listen(site)}`;
}

/** Returns the policy that lets a page of an origin use a route of MCP servers. */
export function corsFor(origin: string) {
  return {
    allowOrigins: [origin],
    allowMethods: ["GET", "POST", "DELETE"],
    allowHeaders: ["*"],
    exposeHeaders: ["mcp-session-id"],
  };
}
