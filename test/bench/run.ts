import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { formatCel, measureCel } from "./cel.ts";
import { type Contender, type Duel, type Pace, type Round, run, start } from "./duel.ts";
import { makeIdentity } from "./token.ts";

// `npm run bench [-- NAME]`: requests per CPU-second of a built gateway, as a ratio to a hand-written proxy that does
// the same work in the same run. Absolute figures depend on the machine; the ratio is the result.

/** undici is CommonJS: its require of node: modules needs one in an ES module. */
const requireShim = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

const pace: Pace = {
  rounds: Number(process.env.BENCH_ROUNDS ?? 11),
  seconds: Number(process.env.BENCH_SECONDS ?? 1),
  connections: 64,
};

const work = mkdtempSync(join(tmpdir(), "gwc-bench-"));
const upstream = await start({ script: path("upstream.ts"), environment: {} }, "");
let isGood = true;
try {
  const wanted = process.argv[2];
  for (const duel of await duels()) {
    if (wanted !== undefined && !duel.name.includes(wanted)) continue;
    const rounds = await run(duel, `http://127.0.0.1:${upstream.port}`, pace);
    isGood = report(duel, rounds) && isGood;
  }
} finally {
  upstream.process.kill("SIGKILL");
  rmSync(work, { recursive: true });
}
if (process.argv[2] === undefined || process.argv[2] === "cel") {
  process.stdout.write(formatCel(measureCel()));
}
process.exitCode = isGood ? 0 : 1;

async function duels(): Promise<readonly Duel[]> {
  const { jwks, token } = await makeIdentity();
  const keys = join(work, "jwks.json");
  writeFileSync(keys, jwks);
  const environment = {
    BENCH_JWKS: keys,
    JWKS: keys,
    UPSTREAM_HOST: `127.0.0.1:${upstream.port}`,
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  };
  const plain = {
    gateway: await compiled("plain", environment),
    handwritten: { script: await bundle("handwritten.ts"), environment },
    goal: 0.95,
  };
  const chain = {
    gateway: await compiled("chain", environment),
    handwritten: { script: await bundle("handwritten-chain.ts"), environment },
    goal: 0.9,
  };
  const body = JSON.stringify({ text: "x".repeat(2000) });
  const origin = ["Origin: https://app.example.com", `Authorization: Bearer ${token}`];
  return [
    { name: "plain GET", request: get([]), ...plain },
    { name: "plain POST 2 KB", request: post([], body), ...plain },
    { name: "chain GET", request: get(origin), ...chain },
    { name: "chain POST 2 KB", request: post(origin, body), ...chain },
  ];
}

function get(headers: readonly string[]): string {
  return head("GET", "/items/1?q=x", headers);
}

function post(headers: readonly string[], body: string): string {
  const own = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  return head("POST", "/items", [...own, ...headers]) + body;
}

function head(method: string, target: string, headers: readonly string[]): string {
  const common = ["Host: api.example.com", "Accept: */*", "User-Agent: load"];
  return `${[`${method} ${target} HTTP/1.1`, ...common, ...headers].join("\r\n")}\r\n\r\n`;
}

/** A configuration of gateways/, built as a user builds it. */
async function compiled(name: string, environment: Record<string, string>): Promise<Contender> {
  const output = join(work, name);
  const settings = { ...environment, BENCH_PORT: String(await freePort()) };
  const build = [path("../../compiler/cli.ts"), "build", path(`gateways/${name}.yaml`)];
  execFileSync(process.execPath, [...build, "-o", output], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { script: join(output, "gateway.mjs"), environment: settings };
}

/** One file, minified: what `gwc build` makes of a gateway, it makes of the hand-written proxy too. */
async function bundle(entry: string): Promise<string> {
  const outfile = join(work, `${entry.replaceAll(/\W+/g, "-")}.mjs`);
  await build({
    entryPoints: [path(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    minify: true,
    banner: { js: requireShim },
    logLevel: "warning",
  });
  return outfile;
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = address !== null && typeof address === "object" ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function report(duel: Duel, rounds: readonly Round[]): boolean {
  const ratio = median(rounds.map((round) => round.ratio));
  const figure = (pick: (round: Round) => number) => Math.round(median(rounds.map(pick)));
  const isGood = ratio >= duel.goal;
  console.log(
    `${duel.name}: ratio ${ratio.toFixed(3)} (goal ${duel.goal}) ${isGood ? "ok" : "LOW"}`,
  );
  console.log(`  gateway      ${figure((r) => r.gateway.perCpuSecond)} requests per CPU-second`);
  console.log(
    `  hand-written ${figure((r) => r.handwritten.perCpuSecond)} requests per CPU-second`,
  );
  console.log(`  rounds       ${rounds.map((round) => round.ratio.toFixed(3)).join(" ")}`);
  return isGood;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
