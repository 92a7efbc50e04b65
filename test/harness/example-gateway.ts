import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { realHost } from "../../compiler/host.ts";
import { compileFile, root } from "./compile-file.ts";
import { freePort, startProcess, type TestProcess } from "./test-process.ts";

/** An example that runs: its own configuration, on free ports. */
export interface RunningExample {
  /** The first port it listens on. */
  readonly port: number;
  /** All of them, by those of its configuration. */
  readonly ports: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/** Compiles an example with other ports, and runs its bundle from the example's folder. */
export async function startExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  const file = path.join(root, "examples", name, "gateway.yaml");
  const text = readFileSync(file, "utf8");
  const ports = new Map<number, number>();
  for (const [, port] of text.matchAll(/port: (\d+)/g)) ports.set(Number(port), await freePort());
  const real = realHost(process.env);
  const { files } = await compileFile(file, {
    name,
    host: {
      ...real,
      readText: (each) =>
        each === file
          ? {
              kind: "text",
              text: text.replace(/port: (\d+)/g, (_, port) => `port: ${ports.get(Number(port))}`),
            }
          : real.readText(each),
    },
  });
  const folder = mkdtempSync(path.join(tmpdir(), "gwc-example-"));
  writeFiles(folder, files);
  const gateway: TestProcess = await startProcess(
    process.execPath,
    [path.join(folder, "gateway.mjs")],
    {
      ready: /listening on 0\.0\.0\.0:(\d+)/,
      env: {
        GWC_CONFIG_DIR: path.dirname(file),
        STATS_ADDR: "127.0.0.1:0",
        READINESS_ADDR: "127.0.0.1:0",
        ...env,
      },
    },
  );
  const [port = 0] = ports.values();
  return {
    port,
    ports,
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
