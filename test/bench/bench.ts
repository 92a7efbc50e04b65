import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { freePort } from "../harness/free-port.ts";
import type { Contender, Pace } from "./duel.ts";
import type { Report } from "./report.ts";

/** Context that all sections of a run share. */
export interface Bench {
  /** A folder for files. */
  readonly folder: string;
  /** `host:port` of the upstream. */
  readonly host: string;
  /** `host:port` of a server that is called over gRPC. */
  readonly callouts: string;
  readonly pace: Pace;
  readonly report: Report;
  /** Names of the wanted cases, if the command line names some: `policies=cors,retry`. */
  readonly chosen: (section: string) => readonly string[] | undefined;
}

/** A part of the bench that can be run alone. */
export interface Section {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<void> | void;
}

/** After so many requests V8 compiles nothing any more that short rounds would count: 30,000 calls of models, fewer of all else. */
export const COMPILED = 40_000;

/** undici is CommonJS: its require of node: modules needs one in an ES module. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** Compiles a configuration of gateways/ as users do. */
export async function compiled(
  folder: string,
  name: string,
  environment: Record<string, string>,
): Promise<Contender> {
  const output = join(folder, name);
  const settings = { ...environment, BENCH_PORT: String(await freePort()) };
  const command = [benchFile("../../compiler/cli.ts"), "build", benchFile(`gateways/${name}.yaml`)];
  execFileSync(process.execPath, [...command, "-o", output], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { script: join(output, "gateway.mjs"), environment: settings };
}

/** Bundles and minifies a script of this folder, as `gwc build` does with a gateway. */
export async function bundled(folder: string, entry: string): Promise<string> {
  const outfile = join(folder, `${entry.replaceAll(/\W+/g, "-")}.mjs`);
  await build({
    entryPoints: [benchFile(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    minify: true,
    banner: { js: REQUIRE },
    logLevel: "warning",
  });
  return outfile;
}

/** Returns the path of a file of this folder. */
export function benchFile(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** Environment of a compiled gateway. */
export function gatewayEnvironment(host: string): Record<string, string> {
  return { UPSTREAM_HOST: host, STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" };
}
