import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, benchFile, type Section } from "./bench.ts";
import { start } from "./duel.ts";
import { featureSections } from "./feature-sections.ts";
import { modelSections } from "./model-sections.ts";
import { peerSections } from "./peer-sections.ts";
import { processSections } from "./process-sections.ts";
import { proxySections } from "./proxy-sections.ts";
import { Report } from "./report.ts";

// `npm run bench [-- SECTION ... [--write]]`. Absolute figures depend on the machine; ratios within the run are the result.
//   nginx         CPU relative to nginx and haproxy, with logs: small, over TLS, 1 MB, 100 events at once and 2 ms apart
//   latency       time of requests at 10, 50 and 80 % of the capacity, next to nginx, with pauses for garbage; 4 minutes
//   log           the access log on top of a plain proxy, in both formats
//   tracing       spans of all, of 1 % and of no requests
//   llm           chat completions relative to the same bytes through a plain proxy: whole, streams, translated, guarded
//   portkey       the same through Portkey's gateway, if PORTKEY names a folder: `npm install --prefix DIR @portkey-ai/gateway`
//   cached        completions from the cache relative to direct responses
//   footprint     start and idle memory relative to a hello-world server, memory of a held stream
//   first requests  time and CPU of requests right after a start
//   threads       CPU of a request in two threads relative to one
//   processes     CPU of a request in four processes behind one port, and in four threads, relative to one
//   builds        `gwc build` of 10,000 routes
//   plain, chain  requests per CPU second relative to a hand-written proxy with the same work
//   policies      cost of each policy on top of a plain proxy; `policies=cors,retry` those alone
//   limits        CPU of a limit that a process counts alone, that replicas lease, and that asks Redis for each request
//   external authorization  CPU of a call of an authorization server over gRPC, on top of a plain proxy
//   dead collector  CPU and time of a traced request while the collector is down
//   mcp           calls of a tool through one target, in either era, relative to the same bytes through a plain proxy
//   tools         a search among 500 tools of MCP servers, and a rule on arguments, without a connection
//   guards        patterns of guards: relative to parsing the JSON; growth of hostile ones
//   routes        1,000 and 10,000 routes relative to ten
//   custom policies  what custom policies with empty hooks add, and what the public interface costs compared with built-in
//                 policies, without a connection
//   decision      finding the route among so many, without a connection
//   cel           an expression relative to two interpreters
// BENCH_ROUNDS, BENCH_SECONDS: number of rounds, and seconds of one. BENCH_NODE_FLAGS=--cpu-prof profiles. `--write`: also
// writes the figures into .github/reference/performance.md.

const SECTIONS: readonly Section[] = [
  ...processSections,
  ...featureSections,
  ...peerSections,
  ...modelSections,
  ...proxySections,
];
const DOCUMENT = benchFile("../../.github/reference/performance.md");

const WRITE = "--write";
const wanted = process.argv.slice(2).filter((each) => each !== WRITE);
const folder = mkdtempSync(join(tmpdir(), "gwc-bench-"));
const upstream = await start({ script: benchFile("upstream.ts"), environment: {} }, "");
const callouts = await start({ script: benchFile("callout-server.ts"), environment: {} }, "");
const report = new Report();
const bench: Bench = {
  folder,
  host: `127.0.0.1:${upstream.port}`,
  callouts: `127.0.0.1:${callouts.port}`,
  pace: {
    rounds: Number(process.env.BENCH_ROUNDS ?? 11),
    seconds: Number(process.env.BENCH_SECONDS ?? 1),
    connections: 64,
  },
  report,
  chosen: (section) => {
    const given = wanted.find((each) => each.startsWith(`${section}=`));
    return given?.slice(section.length + 1).split(",");
  },
};
try {
  for (const section of SECTIONS.filter(isWanted)) {
    // A section that fails, such as one whose rates are too high for a busy machine, does not end the others.
    try {
      await section.run(bench);
    } catch (error) {
      report.failed(section.name, error);
    }
    // A run that is stopped leaves the figures that it has.
    if (process.argv.includes(WRITE)) report.write(DOCUMENT);
  }
} finally {
  upstream.process.kill("SIGKILL");
  callouts.process.kill("SIGKILL");
  rmSync(folder, { recursive: true });
}
process.exitCode = report.isGood ? 0 : 1;

function isWanted({ name }: Section): boolean {
  return wanted.length === 0 || wanted.some((each) => name.includes(each.replace(/=.*/, "")));
}
