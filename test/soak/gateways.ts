import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createReadStream,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { compileFile } from "../harness/compile-file.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { heldMegabytesAt } from "../harness/held-memory.ts";
import type { Target } from "./traffic.ts";

/** A gateway of a soak: a process that writes its output to files. */
export class SoakGateway implements Target {
  readonly name: string;
  readonly http: number;
  readonly tls: number;
  readonly #folder: string;
  readonly #child: ChildProcess;

  constructor(
    name: string,
    folder: string,
    [http, tls]: readonly number[],
    script: readonly string[],
  ) {
    this.name = name;
    this.http = http ?? 0;
    this.tls = tls ?? 0;
    this.#folder = folder;
    this.#child = spawn(process.execPath, script, {
      cwd: folder,
      stdio: [
        "ignore",
        openSync(this.#output("stdout"), "w"),
        openSync(this.#output("stderr"), "w"),
      ],
      env: { ...process.env, ...ANY_PORT },
    });
  }

  /** Waits until it serves both ports. */
  async listening(): Promise<this> {
    try {
      for (const port of [this.http, this.tls])
        await this.#seen("stdout", new RegExp(`listening on \\S+:${port}\\b`));
    } catch (error) {
      await this.stop();
      throw error;
    }
    return this;
  }

  /** Megabytes of resident memory. */
  residentMegabytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "latin1");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1000;
  }

  /** Megabytes that remain after a collection of garbage in the main thread. */
  async heldMegabytes(): Promise<number> {
    this.#child.kill("SIGUSR1");
    const [, url = ""] = await this.#seen("stderr", /Debugger listening on (ws:\S+)/);
    return heldMegabytesAt(url);
  }

  /** Lines of its metrics about TLS handshakes that failed. */
  async failedHandshakes(): Promise<readonly string[]> {
    const [, address] = await this.#seen("stdout", /stats address on ([\d.:]+)/);
    const metrics = await (await fetch(`http://${address}/metrics`)).text();
    return metrics.match(/^gwc_downstream_tls_handshakes_total\{(?!.*result="ok").*$/gm) ?? [];
  }

  /** Ends it as an orchestrator does; returns the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await ended;
    }
    return this.#child.exitCode;
  }

  /** Lines that it has printed. */
  lines(): AsyncIterable<string> {
    return createInterface({ input: createReadStream(this.#output("stdout")) });
  }

  #output(stream: string): string {
    return join(this.#folder, `${stream}.log`);
  }

  #seen(stream: string, pattern: RegExp): Promise<RegExpExecArray> {
    const file = this.#output(stream);
    return eventually(
      () => {
        const text = readFileSync(file, "utf8");
        const found = pattern.exec(text);
        if (found === null && this.#child.exitCode !== null) throw new Error(`ended: ${text}`);
        return found;
      },
      () => `${pattern} in ${file}`,
    );
  }
}

const ANY_PORT = {
  NODE_OPTIONS: "--inspect-port=127.0.0.1:0",
  ADMIN_ADDR: "127.0.0.1:0",
  STATS_ADDR: "127.0.0.1:0",
  READINESS_ADDR: "127.0.0.1:0",
};

/** Compiles a gateway and starts the bundle, with one or more threads. */
export async function startBundle(
  folder: string,
  server: number,
  threads: number,
): Promise<SoakGateway> {
  const name = threads === 1 ? "bundle" : `bundle, ${threads} threads`;
  const ports = await freePorts(2);
  const file = writeConfiguration(folder, fileOf(ports, server, { threads, edit: 0 }));
  writeFiles(join(folder, "out"), (await compileFile(file, { name: "soak" })).files);
  return new SoakGateway(name, folder, ports, [join(folder, "out", "gateway.mjs")]).listening();
}

/** A gateway under `gwc run`, and the function that edits its file. */
export async function startEdited(
  folder: string,
  server: number,
): Promise<{ readonly gateway: SoakGateway; readonly edit: (count: number) => void }> {
  const ports = await freePorts(2);
  const edit = (count: number) =>
    writeConfiguration(folder, fileOf(ports, server, { threads: 1, edit: count }));
  const command = [resolve(import.meta.dirname, "../../compiler/gwc.mjs"), "run", "-f", edit(0)];
  const gateway = await new SoakGateway("gwc run", folder, ports, command).listening();
  return { gateway, edit };
}

/** Writes a file in one step, so that no half of it is read. */
function writeConfiguration(folder: string, content: object): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "gateway.yaml");
  writeFileSync(`${file}.new`, JSON.stringify(content, null, 2));
  renameSync(`${file}.new`, file);
  return file;
}

/** Every third edit has a mistake, so that the last good version continues. */
const MISTAKE = 3;

function fileOf(
  [http, tls]: readonly number[],
  server: number,
  { threads, edit }: { readonly threads: number; readonly edit: number },
): object {
  const host = `127.0.0.1:${server}`;
  const route = (name: string, pathPrefix: string, backend: object) => ({
    name,
    matches: [{ path: { pathPrefix } }],
    backends: [backend],
  });
  const model = (provider: object) => ({ ai: { provider, hostOverride: host } });
  const routes = [
    route("mcp", "/mcp", {
      mcp: { targets: [{ name: "tools", mcp: { host: `http://${host}/mcp` } }] },
    }),
    route("same", "/same", model({ openAI: {} })),
    route("other", "/other", model({ anthropic: {} })),
    {
      ...route("all", "/", { host }),
      policies: {
        responseHeaderModifier: { set: { "x-edit": String(edit) } },
        ...(edit % MISTAKE === MISTAKE - 1 && { timeout: { requestTimeout: "soon" } }),
      },
    },
  ];
  const files = { cert: "../soak.pem", key: "../soak.key" };
  return {
    config: { workerThreads: threads, logging: { format: "json" } },
    frontendPolicies: { tracing: { host, protocol: "http", randomSampling: true } },
    binds: [
      { port: http, listeners: [{ name: "web", routes }] },
      { port: tls, listeners: [{ name: "secure", protocol: "HTTPS", tls: files, routes }] },
    ],
  };
}
