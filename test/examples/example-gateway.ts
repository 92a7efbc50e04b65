import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeFiles } from "../../compiler/3-emit/write.ts";
import { realHost } from "../../compiler/host.ts";
import { freePort, startProcess, type TestProcess } from "../mcp/processes.ts";
import { compileFile, root } from "../support/build.ts";

/** An example that runs: its own configuration, on a free port. */
export interface RunningExample {
  /** The port it listens on. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Compiles an example with another port, and runs its bundle from the example's folder. */
export async function startExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  const file = path.join(root, "examples", name, "gateway.yaml");
  const port = await freePort();
  const real = realHost(process.env);
  const { files } = await compileFile(file, {
    name,
    host: {
      ...real,
      readText: (each) =>
        each === file
          ? { kind: "text", text: readFileSync(file, "utf8").replace(/port: \d+/, `port: ${port}`) }
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
  return {
    port,
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
