import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, bundled, compiled, gatewayEnvironment, type Section } from "./bench.ts";
import { type Duel, run } from "./duel.ts";
import { makeIdentities } from "./identities.ts";

/** Duels of a built gateway with a hand-written proxy that does the same work. */
export const proxySections: readonly Section[] = [
  { name: "plain", run: (bench) => showDuels(bench, "plain", "handwritten.ts", 0.95, []) },
  { name: "chain", run: showChain },
];

async function showChain(bench: Bench): Promise<void> {
  const { jwks, tokens } = await makeIdentities(1);
  writeFileSync(join(bench.folder, "jwks.json"), jwks);
  const headers = ["Origin: https://app.example.com", `Authorization: Bearer ${tokens[0]}`];
  await showDuels(bench, "chain", "handwritten-chain.ts", 0.9, headers);
}

async function showDuels(
  { folder, host, pace, report }: Bench,
  name: string,
  script: string,
  goal: number,
  headers: readonly string[],
): Promise<void> {
  const keys = join(folder, "jwks.json");
  const environment = { BENCH_JWKS: keys, JWKS: keys, ...gatewayEnvironment(host) };
  const body = JSON.stringify({ text: "x".repeat(2000) });
  const both = {
    gateway: await compiled(folder, name, environment),
    handwritten: { script: await bundled(folder, script), environment },
  };
  const duels: readonly Duel[] = [
    { name: "GET", request: head("GET", "/items/1?q=x", headers), ...both },
    { name: "POST of 2 KB", request: post(headers, body), ...both },
  ];
  report.table(`Requests per CPU second relative to a hand-written proxy: ${name}`);
  for (const duel of duels) {
    const rounds = await run(duel, `http://${host}`, pace);
    const values = rounds.map(({ ratio }) => ratio);
    report.figure({ name: duel.name, values, goal, isMinimum: true });
  }
}

function post(headers: readonly string[], body: string): string {
  const own = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  return head("POST", "/items", [...own, ...headers]) + body;
}

function head(method: string, target: string, headers: readonly string[]): string {
  const common = ["Host: api.example.com", "Accept: */*", "User-Agent: load"];
  return `${[`${method} ${target} HTTP/1.1`, ...common, ...headers].join("\r\n")}\r\n\r\n`;
}
