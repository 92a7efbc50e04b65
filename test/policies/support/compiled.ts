import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFiles } from "../../../compiler/3-emit/write.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { compileFile } from "../../support/build.ts";
import { type GatewayProcess, startProcess } from "./process.ts";

/**
 * Builds the routes (YAML, as they stand below `routes:`) into a bundle and runs it as a process of its own in an empty
 * folder. `files` are what the configuration names.
 */
export async function startCompiled(
  routes: string,
  files: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const port = await freePort();
  const host = memoryHost({ "gateway.yaml": configuration(port, routes), ...files });
  const emitted = await compileFile("gateway.yaml", { name: "test", host });
  const folder = mkdtempSync(join(tmpdir(), "gwc-policies-"));
  writeFiles(folder, emitted.files);
  const gateway = await startProcess(join(folder, "gateway.mjs"), {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  });
  return {
    ...gateway,
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function configuration(port: number, routes: string): string {
  const indented = routes.trim().replace(/^/gm, "          ");
  return `binds:\n  - port: ${port}\n    listeners:\n      - routes:\n${indented}\n`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
