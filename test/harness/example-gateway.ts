import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "./free-port.ts";
import { startGateway } from "./gateway.ts";
import { root } from "./root.ts";

/** An example that runs: its own configuration, on free ports. */
export interface RunningExample {
  /** The first port it listens on. */
  readonly port: number;
  /** All of them, by those of its configuration. */
  readonly ports: ReadonlyMap<number, number>;
}

/** Compiles an example with other ports, and runs its bundle with the example's files. `edit`: changes its configuration. */
export async function startExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
  edit: (config: string) => string = (config) => config,
): Promise<RunningExample> {
  const folder = path.join(root, "examples", name);
  const text = edit(readFileSync(path.join(folder, "gateway.yaml"), "utf8"));
  const ports = new Map<number, number>();
  for (const [, port] of text.matchAll(/port: (\d+)/g)) ports.set(Number(port), await freePort());
  const config = text.replace(/port: (\d+)/g, (_, port) => `port: ${ports.get(Number(port))}`);
  await startGateway({
    config,
    files: filesOf(folder),
    // npx finds the commands of its servers there.
    cwd: root,
    env: { GWC_CONFIG_DIR: folder, ...env },
  });
  const [port = 0] = ports.values();
  return { port, ports };
}

function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = globSync("**/*.*", { cwd: folder });
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]),
  );
}
