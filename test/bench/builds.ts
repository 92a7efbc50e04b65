import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { benchFile } from "./bench.ts";

/** Maximum CPU seconds, MB of memory and MB of the bundle of 10,000 routes. */
export const buildGoals = { cpu: 8, memory: 500, bundle: 3 } as const;

/** Cost of builds: one value for each round, and the size of the bundle in MB. */
export interface BuildCosts {
  readonly cpu: readonly number[];
  /** Maximum resident memory in MB. */
  readonly memory: readonly number[];
  readonly bundle: number;
}

const ROUTES = 10_000;
const ROUNDS = 3;

/** Measures `gwc build` of many routes, each time with an empty cache. esbuild's own process is not counted. */
export async function measureBuilds(folder: string): Promise<BuildCosts> {
  const file = join(folder, "many.json");
  const routes = Array.from({ length: ROUTES }, (_, at) => ({
    name: `service-${at}`,
    matches: [{ path: { pathPrefix: `/team-${at % 97}/service-${at}` } }],
    backends: [{ host: `service-${at}.example.com:8080` }],
  }));
  writeFileSync(file, JSON.stringify({ binds: [{ port: 8080, listeners: [{ routes }] }] }));
  const output = join(folder, "many");
  const cpu: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const used = await usageOfBuild(file, output, mkdtempSync(join(folder, "cache-")));
    cpu.push(used.cpu);
    memory.push(used.memory);
  }
  return { cpu, memory, bundle: statSync(join(output, "gateway.mjs")).size / 1e6 };
}

/** Module that prints what its process has used when it ends. */
const USAGE = `data:text/javascript,process.on("exit",()=>{
  const{userCPUTime:u,systemCPUTime:s,maxRSS:m}=process.resourceUsage();
  process.stderr.write("\\nused "+JSON.stringify({cpu:(u+s)/1e6,memory:m/1024}));
})`.replaceAll("\n", "");

async function usageOfBuild(file: string, output: string, cache: string) {
  mkdirSync(cache, { recursive: true });
  const command = [benchFile("../../compiler/gwc.mjs"), "build", file, "-o", output];
  const child = spawn(process.execPath, ["--import", USAGE, ...command], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: cache, XDG_CACHE_HOME: cache },
  });
  const [printed] = await Promise.all([text(child.stderr), once(child, "exit")]);
  const used = /used (\{.*\})/.exec(printed)?.[1];
  if (child.exitCode !== 0 || used === undefined) throw new Error(`the build failed: ${printed}`);
  const usage: { readonly cpu: number; readonly memory: number } = JSON.parse(used);
  return usage;
}
