import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Case, compare, formatCosts, quantile } from "./compare.ts";
import { type Pace, start } from "./duel.ts";

// `npm run bench:base [-- COMMIT]`: the CPU of requests in gateways of this version relative to those of another commit, by
// default the one where the branch left main. Both run side by side and are measured in turns. Fails if three quarters of the
// rounds show a loss of more than 15 %, unless the base differs from itself by as much. BENCH_ROUNDS: number of rounds.

/** How many times the CPU of the base a request may take. */
const LOSS = 1.15;

const repository = resolve(import.meta.dirname, "../..");
const commit = process.argv[2] ?? git("merge-base", "HEAD", "main");
const work = mkdtempSync(join(tmpdir(), "gwc-base-"));
const base = join(work, "base");
const pace: Pace = {
  rounds: Number(process.env.BENCH_ROUNDS ?? 9),
  seconds: 1,
  connections: 32,
};

git("worktree", "add", "--quiet", "--detach", base, commit);
symlinkSync(join(repository, "node_modules"), join(base, "node_modules"));
const script = fileURLToPath(new URL("upstream.ts", import.meta.url));
const upstream = await start({ script, environment: {} }, "");
let isGood = true;
try {
  for (const [name, line, requests, warmUp] of [
    ["GET", "GET /items/1", 3_000, 30_000],
    ["GET 1 MB", "GET /large", 300, 1_000],
    ["100 events, 2 ms apart", "GET /paced", 128, 1_000],
  ] as const) {
    isGood = (await measure(name, line, { ...pace, requests, warmUp })) && isGood;
  }
} finally {
  upstream.process.kill("SIGKILL");
  git("worktree", "remove", "--force", base);
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = isGood ? 0 : 1;

async function measure(name: string, line: string, own: Pace): Promise<boolean> {
  const host = `127.0.0.1:${upstream.port}`;
  const common = {
    routes: [{ backends: [{ host }] }],
    requests: [`${line} HTTP/1.1\r\nHost: api.example.com\r\n\r\n`],
  };
  const cases: readonly Case[] = [
    { name: "base", checkout: base, ...common },
    { name: "base again", checkout: base, ...common },
    { name: "this version", checkout: repository, ...common },
  ];
  const costs = await compare(cases, `http://${host}`, own);
  console.log(`${name}: CPU of a request relative to ${commit.slice(0, 8)}`);
  process.stdout.write(formatCosts(costs));
  const [, again, ours] = costs;
  const noise = quantile(again?.ratios ?? [], 0.75);
  // A machine on which the base differs from itself by as much shows nothing.
  return quantile(ours?.ratios ?? [], 0.25) <= Math.max(LOSS, noise);
}

function git(...parameters: readonly string[]): string {
  return execFileSync("git", parameters, { cwd: repository, encoding: "utf8" }).trim();
}
