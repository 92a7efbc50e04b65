import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { compileFile } from "./compile-file.ts";
import { eventually, freePort } from "./gateway-process.ts";

/** A compiled gateway that runs as a process of its own; it is gone when the test has finished. */
export interface CompiledGateway {
  readonly port: number;
  readonly pid: number;
  /** Where it runs: relative paths of its configuration start here. */
  readonly folder: string;
  /** All that it printed so far. */
  output(): string;
  /** Resolves when the output has a pattern. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  /** SIGTERM; resolves with the exit code. */
  end(): Promise<number | null>;
  /** Resident memory, in megabytes. */
  memory(): number;
}

/** What a gateway is started with. */
export interface GatewayOptions {
  /** Sections of the file beside `binds`. */
  readonly file?: object;
  readonly listeners: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
}

/** Compiles a configuration and runs the bundle in a folder that holds nothing else. */
export async function startCompiled(options: GatewayOptions): Promise<CompiledGateway> {
  const port = await freePort();
  const text = configuration(options, port);
  const host = memoryHost({ "gateway.yaml": text });
  const { files } = await compileFile("gateway.yaml", { name: "test", host });
  const folder = options.folder ?? temporaryFolder();
  writeFiles(folder, files);
  return startBundle(folder, port, options.env ?? {});
}

/** The codes of what gwc says about a configuration that it refuses. */
export function refusals(options: GatewayOptions): string[] {
  const { findings, program } = checkInput(
    ["gateway.yaml"],
    memoryHost({ "gateway.yaml": configuration(options, 3000) }),
    false,
  );
  if (program !== undefined) throw new Error("it was accepted");
  return findings.map(({ code }) => code).filter((code) => code !== "file-not-here");
}

/** A folder that is gone when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gwc-connections-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** JSON is YAML. */
function configuration({ file, listeners }: GatewayOptions, port: number): string {
  return JSON.stringify({ ...file, binds: [{ port, listeners }] });
}

/** Runs a bundle that has been written to a folder. */
export async function startBundle(
  folder: string,
  port: number,
  env: Readonly<Record<string, string>>,
): Promise<CompiledGateway> {
  const child = spawn(process.execPath, [join(folder, "gateway.mjs")], {
    cwd: folder,
    env: { ...process.env, STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const add = (text: Buffer) => {
    output += text;
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const seen = (pattern: RegExp) =>
    eventually(() => {
      const found = pattern.exec(output);
      if (found === null && child.exitCode !== null) throw new Error(`it ended: ${output}`);
      return found;
    }, `${pattern} in ${output}`);
  await seen(/listening on/);
  return {
    port,
    pid: child.pid ?? 0,
    folder,
    output: () => output,
    seen,
    end: () => {
      child.kill("SIGTERM");
      return ended;
    },
    memory: () => Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)])) / 1024,
  };
}

/** A certificate authority in a folder, `NAME.pem` and `NAME.key`; `signer` signs, else it signs itself. */
export function makeCertificate(
  folder: string,
  name: string,
  { commonName = name, names = "", signer = "", days = "2", key = "ec" }: CertificateOptions = {},
): void {
  const path = (extension: string) => join(folder, `${name}.${extension}`);
  const algorithm =
    key === "ec"
      ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
      : ["-newkey", "rsa:2048"];
  const subject = ["-subj", `/CN=${commonName}`, "-nodes", "-keyout", path("key")];
  const extension = names === "" ? [] : ["-addext", `subjectAltName=${names}`];
  const run = (parameters: readonly string[]) =>
    execFileSync("openssl", parameters, { stdio: "ignore" });
  if (signer === "") {
    run([
      "req",
      "-x509",
      ...algorithm,
      ...subject,
      ...extension,
      "-days",
      days,
      "-out",
      path("pem"),
    ]);
    return;
  }
  run(["req", "-new", ...algorithm, ...subject, ...extension, "-out", path("csr")]);
  writeFileSync(path("cnf"), names === "" ? "" : `subjectAltName=${names}\n`);
  const authority = ["-CA", join(folder, `${signer}.pem`), "-CAkey", join(folder, `${signer}.key`)];
  const files = ["-in", path("csr"), "-out", path("pem"), "-extfile", path("cnf")];
  run(["x509", "-req", ...authority, ...files, "-CAcreateserial", "-days", days]);
}

/** What a certificate says. */
export interface CertificateOptions {
  readonly commonName?: string;
  /** `DNS:localhost,IP:127.0.0.1` */
  readonly names?: string;
  /** The certificate of the folder that signs it. */
  readonly signer?: string;
  readonly days?: string;
  readonly key?: "ec" | "rsa";
}

/** The port of loopback that a server listens on from now on; it is closed when the test has finished. */
export function listening(server: Server): Promise<number> {
  onTestFinished(() => {
    server.close();
  });
  // A TCP server's address is an object.
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}
