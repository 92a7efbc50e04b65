import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Duel, type Pace, type Round, run, start } from "./duel.ts";

// `npm run bench [-- NAME]`: requests per CPU-second of a bundled gateway, as a ratio to a hand-written proxy that does
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
process.exitCode = isGood ? 0 : 1;

async function duels(): Promise<readonly Duel[]> {
  const gateway = { script: await bundle("../http/fixtures/gateway.ts"), environment: {} };
  const handwritten = { script: await bundle("handwritten.ts"), environment: {} };
  const get =
    "GET /items/1?q=x HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\nUser-Agent: load\r\n\r\n";
  const body = JSON.stringify({ text: "x".repeat(2000) });
  const post =
    "POST /items HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/json\r\n" +
    `User-Agent: load\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return [
    { name: "plain GET", request: get, gateway, handwritten, goal: 0.95 },
    { name: "plain POST 2 KB", request: post, gateway, handwritten, goal: 0.95 },
  ];
}

/** One file, as `gwc build` makes it. */
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
