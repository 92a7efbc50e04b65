import { expect, it } from "vitest";
import type { Difference } from "../../compiler/inspect/diff/difference.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { openTrialProgram, type TrialProgram } from "../../compiler/inspect/tests/trial-program.ts";
import type { TrialRequest } from "../../runtime/trial/trial.ts";
import { editedPair, opensAccess, opensRoute, requestOf } from "./gateway-pairs.ts";
import { HOSTS, randomTrial } from "./random-gateways.ts";
import { RandomSource } from "./random-rules.ts";

/** Pairs of gateways in parts of so many, and requests to each pair. */
const IS_LONG = process.env.GWC_LONG_TESTS === "1";
const [PARTS, PAIRS] = IS_LONG ? [40, 50] : [1, 7];
const REQUESTS = 200;
/** What a pair showed that was missed once: tried first. */
const FOUND = [1, 33, 168, 637, 3518, 3783];

/** What a client sees, and which server is asked for what. */
async function seenIn(side: TrialProgram, request: TrialRequest) {
  if (side.program.binds.every(({ port }) => port !== request.port))
    return { status: undefined, isServed: false, rest: "nothing listens" };
  const { status, headers, calls, failure } = await side.send(request, 1);
  expect(failure).toBeUndefined();
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

it.each(Array.from({ length: PARTS }, (_, part) => part))(
  "whatever random requests to two whole gateways find is in their diff, and what it says opens does so (part %i)",
  async (part) => {
    const missed: unknown[] = [];
    const closed: unknown[] = [];
    const counts = { pairs: 0, differ: 0, found: 0, opens: 0, flipped: 0, undecided: 0 };
    const first = part * PAIRS * 3 + 2;
    const own = Array.from({ length: PAIRS * 3 }, (_, index) => first + index);
    const seeds = part === 0 ? [...FOUND, ...own] : own;
    for (const seed of seeds) {
      if (counts.pairs === PAIRS) break;
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
    if (IS_LONG) process.stderr.write(`${part} ${JSON.stringify(counts)}\n`);
    expect(missed.slice(0, 3)).toEqual([]);
    expect(closed.slice(0, 3)).toEqual([]);
    expect(counts.differ).toBeGreaterThan(PAIRS / 3);
  },
  1_200_000,
);
