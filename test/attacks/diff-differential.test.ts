import fc from "fast-check";
import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { openTrialProgram, type TrialProgram } from "../../compiler/inspect/tests/trial-program.ts";
import type { TrialRequest } from "../../runtime/trial/trial.ts";
import { atEnd } from "../harness/at-end.ts";

/** Pairs of gateways, listeners of each, and requests to each listener. */
const PAIRS = process.env.GWC_LONG_TESTS === undefined ? 8 : 100;
const [LISTENERS, REQUESTS] = [12, 100];

/** One listener with one route, as an edit finds it or leaves it. */
interface Site {
  readonly pathHandling: string;
  readonly policies: object;
  readonly match: object;
}

const some = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

/** Rules over what requests can say twice, encode or send in unusual ways. */
const ruleTexts = [
  ...['request.headers["d"] == "1"', 'request.headers["d"].startsWith("1")'],
  ...['request.method in ["DELETE", "TRACE"]', 'request.method == "OPTIONS"'],
  ...['request.path.startsWith("/a")', 'request.path == "/a/b"', "true"],
];

const rule = fc
  .record({ action: some("allow", "deny", "require"), text: some(...ruleTexts) })
  .map(({ action, text }) => ({ [action]: text }));

const policies = fc
  .record({
    authorization: fc.option(fc.record({ rules: fc.array(rule, { minLength: 1, maxLength: 3 }) })),
    csrf: fc.option(
      some<object>(
        {},
        ...["ok", "other"].map((name) => ({ additionalOrigins: [`https://${name}.test`] })),
      ),
    ),
    directResponse: some({ status: 200 }, { status: 200 }, { status: 200 }, { status: 403 }),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, each]) => each !== null)));

const site: fc.Arbitrary<Site> = fc.record({
  pathHandling: some("canonical", "canonical", "verbatim"),
  policies,
  match: some<object>(
    { path: { pathPrefix: "/" } },
    { path: { pathPrefix: "/a" } },
    { path: { pathPrefix: "/" }, headers: [{ name: "d", value: { exact: "1" } }] },
    { path: { pathPrefix: "/" }, method: "DELETE" },
  ),
});

/** A site before and after an edit of one of its parts, or of none. */
const edit = fc
  .record({ before: site, other: site, part: some("pathHandling", "policies", "match", "none") })
  .map(({ before, other, part }) => {
    const after = part === "none" ? before : { ...before, [part]: Object(other)[part] };
    return { before, after };
  });

const headerLines = (name: string, values: readonly string[]) =>
  fc
    .array(some(...values), { maxLength: 2 })
    .map((lines) => (lines.length === 0 ? {} : { [name]: lines.length === 1 ? lines[0] : lines }));

const request = fc
  .record({
    method: some("GET", "POST", "DELETE", "TRACE", "OPTIONS", "HEAD"),
    target: some(...["/", "/a", "/a/b", "/%61/b", "/b/../a/b", "/a//b", "/a%2Fb", "/c"]),
    headers: fc.tuple(
      headerLines("d", ["1", "2", "12", "1, 2", ""]),
      headerLines("origin", ["null", "https://ok.test", "https://other.test", ""]),
      headerLines("sec-fetch-site", ["same-origin", "cross-site", "none", "x"]),
    ),
  })
  .map(({ headers, ...rest }) => ({ ...rest, headers: Object.assign({}, ...headers) as object }));

const hostOf = (index: number) => `h${index}.test`;

function gatewayOf(sites: readonly Site[]) {
  const listeners = sites.map(({ pathHandling, policies: own, match }, index) => ({
    ...{ hostname: hostOf(index), pathHandling },
    routes: [{ name: `r${index}`, matches: [match], policies: own }],
  }));
  const text = JSON.stringify({ binds: [{ port: 8080, listeners }] });
  const { program, files, findings } = checkInput(["g"], memoryHost({ g: text }), false);
  if (program === undefined) throw new Error(findings.map(({ message }) => message).join("\n"));
  return { program, files };
}

async function trialOf({ program, files }: ReturnType<typeof gatewayOf>): Promise<TrialProgram> {
  const trial = await openTrialProgram(program, files);
  atEnd(() => trial.close());
  return trial;
}

it("what gwc diff calls equal is answered equally, and what opens is said to open", async () => {
  const missed: unknown[] = [];
  const counts = { requests: 0, differ: 0, opens: 0, equal: 0 };
  const pairs = fc.sample(fc.array(edit, { minLength: LISTENERS, maxLength: LISTENERS }), {
    ...{ numRuns: PAIRS, seed: 17 },
  });
  const requests = fc.sample(request, { numRuns: REQUESTS, seed: 19 });
  for (const edits of pairs) {
    const sides = [gatewayOf(edits.map(({ before }) => before))];
    sides.push(gatewayOf(edits.map(({ after }) => after)));
    const [before, after] = sides;
    if (before === undefined || after === undefined) continue;
    const { differences, undecided } = programDiff(before.program, after.program);
    const [old, now] = [await trialOf(before), await trialOf(after)];
    for (const index of edits.keys()) {
      const own = differences.filter(({ subject }) => subject.includes(`${hostOf(index)}:`));
      counts.equal += Number(own.length === 0);
      for (const { method, target, headers } of requests) {
        const sent = {
          ...{ port: 8080, isTls: false, method, target, address: "8.8.8.8" },
          headers: { ...headers, host: hostOf(index) },
          ...{ body: undefined, message: undefined, identities: {}, servers: {} },
          response: { status: 200, headers: {}, body: "" },
        } satisfies TrialRequest;
        const [from, to] = [await old.send(sent, 1), await now.send(sent, 1)];
        counts.requests += 1;
        if (from.status === to.status) continue;
        counts.differ += 1;
        const isServed = (status: number | undefined) => status !== undefined && status < 400;
        const opens = !isServed(from.status) && isServed(to.status);
        counts.opens += Number(opens);
        const isTold = opens ? own.some(({ direction }) => direction === "opens") : own.length > 0;
        if (isTold || undecided.length > 0) continue;
        missed.push({ sent, statuses: [from.status, to.status], edit: edits[index], own });
      }
    }
  }
  if (process.env.GWC_LONG_TESTS !== undefined) process.stderr.write(JSON.stringify(counts));
  expect(missed.slice(0, 3)).toEqual([]);
  expect(Math.min(counts.differ, counts.opens, counts.equal)).toBeGreaterThan(PAIRS);
}, 3_600_000);
