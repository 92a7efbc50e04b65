import fc from "fast-check";
import { expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import type { ProgramDiff } from "../../compiler/inspect/diff/difference.ts";
import { listenerPairs } from "../../compiler/inspect/diff/listener-pairs.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { type RoutedRequest, routePairs } from "../../compiler/inspect/diff/route-pairs.ts";
import type { Program } from "../../compiler/ir/program.ts";
import { clusterTables, requestsFor } from "../http/routing/arbitrary.ts";
import { standaloneText } from "../http/routing/forms.ts";
import type { Table, TableRequest, TableRoute } from "../http/routing/model.ts";
import { decide } from "../http/routing/naive.ts";

const isLong = process.env.GWC_LONG_TESTS !== undefined;
const PAIRS = isLong ? 1_000 : 25;

/** Hostnames, patterns and precedence of a port before and after an edit, and requests for both. */
const pairs = fc
  .tuple(clusterTables, clusterTables, fc.nat(), fc.nat(), fc.nat(5))
  .map(([before, other, at, from, kind]) => ({
    before,
    after: edited(before, other, at, from, kind),
  }))
  .chain(({ before, after }) =>
    fc
      .tuple(requestsFor(before), requestsFor(after))
      .map((requests) => ({ before, after, requests: requests.flat() })),
  );

/** A table with one route or listener that another table has; 0: the same table. */
function edited(table: Table, other: Table, at: number, from: number, kind: number): Table {
  const place = at % table.listeners.length;
  const donors = other.listeners.flatMap(({ routes }) => routes);
  const donor = donors[from % Math.max(1, donors.length)];
  const listener = table.listeners[place];
  if (kind === 0 || listener === undefined || donor === undefined) return table;
  const { routes } = listener;
  const index = from % Math.max(1, routes.length);
  const old = routes[index];
  const withRoutes = (changed: readonly TableRoute[]): Table => ({
    listeners: table.listeners.with(place, { ...listener, routes: changed }),
  });
  if (kind === 1 && table.listeners.length > 1)
    return { listeners: table.listeners.toSpliced(place, 1) };
  if (kind === 2 || old === undefined)
    return withRoutes(routes.toSpliced(index, 0, { ...donor, id: "new" }));
  if (kind === 3) return withRoutes(routes.toSpliced(index, 1));
  if (kind === 4) return withRoutes(routes.with(index, { ...old, hostnames: donor.hostnames }));
  return withRoutes(routes.with(index, { ...old, matches: donor.matches }));
}

/** The program of a table, without the routes that no request reaches: they are mistakes. */
function programOf(table: Table): Program {
  const excludedFields = new Set<string>();
  for (;;) {
    const text = standaloneText([table], [80], (name) => excludedFields.has(name));
    const host = memoryHost({ "g.yaml": text });
    const checked = checkFiles(["g.yaml"], host, { name: "g", isStrict: false });
    const [program] = checked.programs;
    if (program !== undefined) return program;
    const before = excludedFields.size;
    for (const { code, params } of checked.diagnostics)
      if (code === "unreachable-route") excludedFields.add(String(Object(params).route));
    if (excludedFields.size === before) throw new Error(JSON.stringify(checked.diagnostics));
  }
}

function sentAs({ host, method, path, headers, query }: RoutedRequest): TableRequest {
  return { host, method, path, headers: Object.entries(headers), query: Object.entries(query) };
}

/** Returns what a diff must report about a request that moves to another route; `undefined` if nothing. */
function wanted(from: string | undefined, to: string | undefined) {
  if (from === to) return undefined;
  return from === undefined ? "opens" : to === undefined ? "closes" : "changes";
}

function says({ differences, undecided }: ProgramDiff, direction: string): boolean {
  const isTold =
    direction === "changes"
      ? differences
      : differences.filter((each) => each.direction === direction);
  return isTold.length + undecided.length > 0;
}

it("where requests go by wildcard hostnames, patterns and precedence is in a diff if it is different, and only then", () => {
  let undecided = 0;
  const property = fc.property(pairs, ({ before, after, requests }) => {
    const [old, now] = [programOf(before), programOf(after)];
    const found = programDiff(old, now);
    undecided += Number(found.undecided.length > 0);
    if (before === after)
      expect(found).toEqual({ differences: [], undecided: [], changedRoutes: 0 });
    for (const request of requests) {
      const direction = wanted(decide(before, request, "file"), decide(after, request, "file"));
      if (direction !== undefined)
        expect(says(found, direction), `${direction} ${JSON.stringify(request)}`).toBe(true);
    }
    for (const pair of listenerPairs(old.binds[0], now.binds[0]))
      for (const { before: from, after: to, requests: examples } of routePairs(pair).pairs)
        for (const example of examples) {
          const sent = sentAs(example);
          const ids = [decide(before, sent, "file"), decide(after, sent, "file")];
          const names = [from, to].map((route) => route?.name.replace("t0/", ""));
          expect(names, JSON.stringify(example)).toEqual(ids);
        }
  });
  fc.assert(property, { seed: 5, numRuns: PAIRS, endOnFailure: true });
  // The share of few pairs says little.
  expect(undecided).toBeLessThan(PAIRS / (isLong ? 10 : 2));
}, 3_600_000);
