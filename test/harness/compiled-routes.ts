import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile, root } from "./compile-file.ts";
import { type GatewayProcess, startProcess } from "./process.ts";

/** Any free ports. */
const serviceAddresses = {
  ADMIN_ADDR: "127.0.0.1:0",
  STATS_ADDR: "127.0.0.1:0",
  READINESS_ADDR: "127.0.0.1:0",
};

/**
 * Builds the routes (YAML, as they stand below `routes:`) into a bundle and runs it as a process of its own in an empty
 * folder. `files` are what the configuration names.
 */
export async function startCompiled(
  routes: string,
  files: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const port = await freePort();
  return startText(configuration(port, routes), files);
}

/** The same with listeners, whose policies may stand before routing; `file` is what stands beside the binds. */
export async function startListeners(
  listeners: readonly object[],
  file: object = {},
): Promise<GatewayProcess> {
  const binds = [{ port: await freePort(), listeners }];
  // JSON is YAML.
  return startText(JSON.stringify({ ...file, binds }), {});
}

async function startText(
  text: string,
  files: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const host = memoryHost({ "gateway.yaml": text, ...files });
  const emitted = await compileFile("gateway.yaml", { name: "test", host });
  const folder = mkdtempSync(join(tmpdir(), "gwc-policies-"));
  writeFiles(folder, emitted.files);
  const gateway = await startProcess(join(folder, "gateway.mjs"), serviceAddresses);
  return {
    ...gateway,
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A gateway that follows its configuration. */
export interface FollowingProcess extends GatewayProcess {
  /** Changes the configuration to these routes; resolves when they are served. */
  change(routes: string): Promise<void>;
}

/** Serves the routes with `gwc run`. */
export async function startFollowing(routes: string): Promise<FollowingProcess> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "gwc-policies-"));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, configuration(port, routes));
  const gateway = await startProcess(join(root, "compiler/cli.ts"), serviceAddresses, [
    "run",
    "-f",
    file,
  ]);
  return {
    ...gateway,
    change: async (routes) => {
      writeFileSync(file, configuration(port, routes));
      while (!gateway.output().includes("gateway.yaml changed: ")) await pause(20);
    },
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

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
