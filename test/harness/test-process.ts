import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** A process of a test. */
export interface TestProcess {
  readonly pid: number;
  readonly port: number;
  /** Everything it has written so far. */
  log(): string;
  /** Ends it with a signal (SIGTERM when absent) and waits for its end; its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The everything server over HTTP; `path` is where it answers. */
export async function startEverything(transport: "streamableHttp" | "sse"): Promise<TestProcess> {
  const port = await freePort();
  return startProcess(process.execPath, [everythingScript(), transport], {
    ready: /(?:listening|running) on port (\d+)/i,
    env: { PORT: String(port) },
  });
}

/** Path of the everything server's script; `stdio` is its default transport. */
export function everythingScript(): string {
  return fileURLToPath(
    import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  );
}

export interface StartOptions {
  /** Output that says that it is ready; its first group is the port. */
  readonly ready: RegExp;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a process and waits until it is ready. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: StartOptions,
): Promise<TestProcess> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  let output = "";
  const port = await new Promise<number>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk.toString();
      const match = options.ready.exec(output);
      if (match !== null) resolve(Number(match[1] ?? 0));
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`it ended before it was ready:\n${output}`)));
  });
  return { pid: child.pid ?? 0, port, log: () => output, stop: (signal) => stop(child, signal) };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function stop(
  child: ChildProcess,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await once(child, "exit");
  clearTimeout(timer);
  return child.exitCode;
}
