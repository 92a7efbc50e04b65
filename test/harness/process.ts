import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";

/** A gateway that runs as a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly port: number;
  /** All that it printed so far. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts a gateway's main module; resolves when it listens. */
export async function startProcess(
  script: string,
  environment: Record<string, string>,
  options: readonly string[] = [],
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [script, ...options], {
    cwd: dirname(script),
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    output += text;
  });
  const port = await listeningPort(child, () => output);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    output: () => output,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function listeningPort(child: ChildProcess, output: () => string): Promise<number> {
  for (;;) {
    const found = /listening on 0\.0\.0\.0:(\d+)/.exec(output());
    if (found !== null) return Number(found[1]);
    if (child.exitCode !== null) throw new Error(`the gateway ended: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
