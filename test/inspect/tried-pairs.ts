import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Difference } from "../../compiler/inspect/diff/difference.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { openTrialProgram, type TrialProgram } from "../../compiler/inspect/tests/trial-program.ts";
import type { TrialRequest } from "../../runtime/trial/trial.ts";
import { editedPair, opensAccess, opensRoute, requestOf } from "./gateway-pairs.ts";
import { HOSTS, randomTrial } from "./random-gateways.ts";
import { RandomSource } from "./random-rules.ts";

/** Requests to each pair. */
const REQUESTS = 200;
/** Pairs with a difference that was missed once: tried first. */
const FOUND = [1, 33, 168, 637, 3518, 3783];

/** Which pairs: those of a part, of so many. */
interface PairsOfPart {
  readonly part: number;
  readonly pairs: number;
}

/** Results of random requests to pairs of gateways. */
export interface TriedPairs {
  readonly counts: Readonly<
    Record<"pairs" | "differ" | "found" | "opens" | "flipped" | "undecided", number>
  >;
  /** Differences that requests found and the diff does not report. */
  readonly missed: readonly unknown[];
  /** Openings that the diff reports and requests did not show. */
  readonly closed: readonly unknown[];
}

/** The client's view of a response, and the requests of servers. */
async function seenIn(side: TrialProgram, request: TrialRequest) {
  if (side.program.binds.every(({ port }) => port !== request.port))
    return { status: undefined, isServed: false, rest: "nothing listens" };
  const { status, headers, calls, failure } = await side.send(request, 1);
  if (failure !== undefined) throw new Error(`it failed: ${failure}`);
  const shown = headers.flatMap((name, at) =>
    at % 2 === 0 && /^(access-control-|x-shown)/i.test(name) ? [`${name}: ${headers[at + 1]}`] : [],
  );
  const asked = calls.map((call) =>
    JSON.stringify(call, ["host", "url", "target", "path", "server"]),
  );
  return {
    status,
    isServed: calls.length > 0 || (status !== undefined && ![401, 403, 404].includes(status)),
    rest: JSON.stringify([shown.toSorted(), asked]),
  };
}

/** Whether a difference is of a port, as far as it names one. */
function isOfPort({ subject }: Difference, port: number): boolean {
  const [, named = String(port)] = /^port (\d+)|:(\d+)/.exec(subject)?.filter(Boolean) ?? [];
  return named === String(port);
}

/** Compares pairs of gateways and sends requests to both sides of each. */
export async function tryPairs({ part, pairs }: PairsOfPart): Promise<TriedPairs> {
  const missed: unknown[] = [];
  const closed: unknown[] = [];
  const counts = { pairs: 0, differ: 0, found: 0, opens: 0, flipped: 0, undecided: 0 };
  const first = part * pairs * 3 + 2;
  const own = Array.from({ length: pairs * 3 }, (_, index) => first + index);
  const seeds = part === 0 ? [...FOUND, ...own] : own;
  for (const seed of seeds) {
    if (counts.pairs === pairs) break;
    const random = new RandomSource(seed * 32_452_843);
    const pair = editedPair(random);
    if (pair === undefined) continue;
    const { before, after } = pair;
    counts.pairs += 1;
    const { differences, undecided } = programDiff(before.program, after.program);
    counts.differ += Number(differences.length > 0);
    counts.undecided += Number(undecided.length > 0);
    const [old, now] = await Promise.all(
      [before, after].map(({ program, files }) => openTrialProgram(program, files)),
    );
    if (old === undefined || now === undefined) throw new Error("a side is missing");
    const says = (direction: string, port: number) =>
      differences.some((each) => each.direction === direction && isOfPort(each, port));
    for (let count = 0; count < REQUESTS; count += 1) {
      const request = randomTrial(random);
      const [from, to] = [await seenIn(old, request), await seenIn(now, request)];
      if (JSON.stringify(from) === JSON.stringify(to)) continue;
      counts.found += 1;
      const direction =
        from.isServed === to.isServed ? undefined : to.isServed ? "opens" : "closes";
      const isTold =
        direction === undefined ? differences.length > 0 : says(direction, request.port);
      if (!isTold && undecided.length === 0)
        missed.push({ seed, direction, request, from, to, differences });
    }
    for (const each of differences.filter(({ direction }) => direction === "opens")) {
      const tries = HOSTS.flatMap((host) => requestOf(each, host) ?? []);
      const isRoute = opensRoute(each);
      if (tries.length === 0 || !(isRoute || opensAccess(each))) continue;
      counts.opens += 1;
      let flips = false;
      for (const request of tries) {
        const [from, to] = [await seenIn(old, request), await seenIn(now, request)];
        const isThere = to.status !== undefined && (to.status !== 404 || to.isServed);
        flips ||= !from.isServed && (isRoute ? isThere : to.isServed);
      }
      counts.flipped += Number(flips);
      if (!flips) closed.push({ seed, each });
    }
    old.close();
    now.close();
  }
  return { counts, missed: missed.slice(0, 3), closed: closed.slice(0, 3) };
}

/** The same in a thread of its own: a process keeps all modules that it ever imported, and each side of a pair is some. */
export function tryPairsApart(asked: PairsOfPart): Promise<TriedPairs> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: asked });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

if (!isMainThread && parentPort !== null && "pairs" in (workerData ?? {}))
  parentPort.postMessage(await tryPairs(workerData));
