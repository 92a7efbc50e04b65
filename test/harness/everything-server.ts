import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { TestProcess } from "./test-process.ts";

/** The port of the MCP project's server that has everything, over HTTP. */
export async function startEverything(transport: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const server = new TestProcess(process.execPath, [everythingScript(), transport], {
    env: { PORT: String(port) },
  });
  await server.seen(/(?:listening|running) on port/i);
  return port;
}

/** Path of its script; `stdio` is its default transport. */
export function everythingScript(): string {
  return fileURLToPath(
    import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  );
}
