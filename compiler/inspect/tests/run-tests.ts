import type { TrialOutcome } from "../../../runtime/trial/trial.ts";
import type { McpEra } from "../../backends/mcp/mcp-config.ts";
import {
  childOf,
  type Diagnostic,
  Diagnostics,
  type Origin,
  placeKey,
} from "../../diagnostics/diagnostic.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { Host } from "../../host.ts";
import { accessOf, policiesBefore, policiesMet } from "../../ir/access.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import type { PolicyVerdict } from "../access/chain-verdicts.ts";
import type { CheckedInput } from "../check-input.ts";
import {
  decidingRule,
  type ItemData,
  itemOf,
  policiesOf,
  type ReachedNode,
  reachedNode,
  verdictsOf,
} from "./deciding-rule.ts";
import { isPassed, type UnmetExpectation, unmetExpectations, verdictText } from "./expectations.ts";
import { checkSuite, placeTest } from "./place-test.ts";
import { readTests, type TestSuite } from "./read-tests.ts";
import { namesWithServers, offeredItems, type PlacedTarget, trialRequest } from "./test-request.ts";
import type { GatewayTest } from "./test-schema.ts";
import { openTrialProgram, type TrialProgram } from "./trial-program.ts";

/** Result of a test. */
export interface TestVerdict {
  readonly name: string;
  readonly origin: Origin;
  /** Reasons for the failure; empty if the test passes. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Result of a test run. */
export interface TestRun {
  readonly verdicts: readonly TestVerdict[];
  /** Mistakes in test files, whose tests did not run. */
  readonly mistakes: readonly Diagnostic[];
  /** Configuration files and test files. */
  readonly files: readonly SourceFile[];
  /** The parts of the configuration, and whether a test covers each. */
  readonly coverage: readonly (CoveredPart & { readonly isCovered: boolean })[];
}

/** Runs test files on the compiled programs of a configuration. */
export async function runTests(
  paths: readonly string[],
  checked: CheckedInput,
  host: Host,
): Promise<TestRun> {
  const diagnostics = new Diagnostics();
  const { suites, files } = readTests(paths, host, diagnostics);
  const { programs } = checked;
  for (const { value, origin } of suites) checkSuite(value, programs, origin, diagnostics);
  const trials = new Map<Program, TrialProgram>();
  const covered = new Set<string>();
  const verdicts: TestVerdict[] = [];
  for (const suite of suites) {
    for (const [index, test] of suite.value.tests.entries()) {
      const origin = childOf(suite.origin, "tests", index);
      const found = new Diagnostics();
      const target = placeTest(test, suite.value, programs, origin, found);
      if (target !== undefined) {
        const { program } = target;
        const trial = trials.get(program) ?? (await openTrialProgram(program, checked.files));
        trials.set(program, trial);
        await runTest({ test, suite, target, trial, origin, covered }, found);
      }
      verdicts.push({ name: test.name, origin, diagnostics: found.list });
    }
  }
  for (const trial of trials.values()) trial.close();
  const coverage = coverableParts(programs).map((part) => ({
    ...part,
    isCovered: covered.has(partKey(part)),
  }));
  return { verdicts, mistakes: diagnostics.list, files: [...checked.files, ...files], coverage };
}

/** A test that is ready to run. */
interface ReadyTest {
  readonly test: GatewayTest;
  readonly suite: TestSuite;
  readonly target: PlacedTarget;
  readonly trial: TrialProgram;
  readonly origin: Origin;
  /** Keys of the parts that are covered so far. */
  readonly covered: Set<string>;
}

async function runTest(ready: ReadyTest, diagnostics: Diagnostics): Promise<void> {
  const { test, suite, target, trial, origin } = ready;
  const results: EraResult[] = [];
  for (const era of erasOf(test)) {
    const request = trialRequest(test, target, era, suite.value.servers);
    const outcome = await trial.send(request, test.repeat ?? 1);
    if (outcome.failure !== undefined) throw new Error(outcome.failure);
    const reached = reachedNode(trial.program, outcome);
    const verdicts =
      reached === undefined
        ? []
        : verdictsOf(test, outcome, reached, itemOf(outcome, reached, test));
    const rule = decidingRule(verdicts);
    if (reached !== undefined) {
      markCovered(ready, reached, outcome, verdicts);
      if (results.length === 0) reportUnusedIdentities(test, reached, origin, diagnostics);
    }
    const unmet = unmetExpectations(test, { outcome, rule });
    const names = reached?.route && namesWithServers(test, reached.route).join(" or ");
    const why = `${whatHappened(outcome, verdicts)}${names ? `; clients see it as ${names}` : ""}`;
    results.push({ era, outcome, unmet, why });
  }
  reportResults(test, results, origin, diagnostics);
}

/** Result of a test with one kind of client. */
interface EraResult {
  readonly era: McpEra;
  readonly outcome: TrialOutcome;
  readonly unmet: readonly UnmetExpectation[];
  readonly why: string;
}

/** Reports unmet expectations, once if both eras agree, and outcomes that differ between eras. */
function reportResults(
  test: GatewayTest,
  results: readonly EraResult[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const isSame = new Set(results.map(({ unmet }) => JSON.stringify(unmet))).size === 1;
  for (const { era, unmet, why } of isSame ? results.slice(0, 1) : results) {
    const client = isSame ? undefined : CLIENTS[era];
    for (const { path, ...found } of unmet) {
      const at = childOf(origin, "expect", ...path);
      diagnostics.report("unmet-expectation", at, { test: test.name, client, ...found, why });
    }
  }
  const [first, second] = results;
  if (first === undefined || second === undefined || results.some(({ unmet }) => unmet.length > 0))
    return;
  const [stateless, sessions] = [first, second].map(({ outcome }) => verdictText(test, outcome));
  if (stateless === sessions) return;
  const params = { test: test.name, stateless: stateless ?? "", sessions: sessions ?? "" };
  diagnostics.report("eras-differ", childOf(origin, "name"), params);
}

/** Returns the eras of the clients that send a test; tests without MCP are sent once. */
function erasOf({ era, request, model }: GatewayTest): readonly McpEra[] {
  if (era !== undefined) return [era];
  return request === undefined && model === undefined ? ["stateless", "sessions"] : ["stateless"];
}

const CLIENTS: Readonly<Record<McpEra, string>> = {
  sessions: "to a client with sessions",
  stateless: "to a client without sessions",
};

/** Summarizes the outcome of a failed test. */
function whatHappened(outcome: TrialOutcome, verdicts: readonly PolicyVerdict[]): string {
  const { status, reason, route, listener, calls } = outcome;
  const open = verdicts.find(({ verdict }) => verdict === "undecided" || verdict === "depends");
  const refusing = verdicts.find(({ verdict }) => verdict === "refuses");
  const passing = verdicts.findLast(({ rule }) => rule !== undefined);
  const self = listener === undefined ? "the gateway" : `listener ${listener}`;
  const where = route === undefined ? self : `route ${route}`;
  const server = calls.at(-1)?.server;
  const called = server === undefined ? "" : `, ${server} was called`;
  const by = isPassed(outcome) ? passing : refusing;
  const who = by === undefined ? "" : `; ${by.policy}: ${by.reason}`;
  const unclear = open === undefined ? "" : `; ${open.policy} ${open.reason}`;
  const what = status === undefined ? "no response" : `${status}${reason ? ` ${reason}` : ""}`;
  return `${where} responded ${what}${called}${who}${unclear}`;
}

/** Marks the parts that a test covers; policies after a refusing one are not covered. */
function markCovered(
  { test, suite, covered }: ReadyTest,
  reached: ReachedNode,
  outcome: TrialOutcome,
  verdicts: readonly PolicyVerdict[],
): void {
  const { route } = reached;
  const policies = policiesOf(reached);
  const refusing = verdicts.find(({ verdict }) => verdict === "refuses")?.policy;
  const last = policies.findIndex(({ kind }) => kind === refusing);
  if (route !== undefined) covered.add(partKey({ kind: "route", origin: route.origin }));
  for (const { origin } of last < 0 ? policies : policies.slice(0, last + 1))
    covered.add(partKey({ kind: "policy", origin }));
  const items: readonly (ItemData | undefined)[] =
    test.list === undefined || route === undefined || !isPassed(outcome)
      ? []
      : offeredItems(route, test.list, suite.value.servers);
  const decided = [
    ...verdicts,
    ...items.flatMap((item) => verdictsOf(test, outcome, reached, item)),
  ];
  for (const { rule } of decided)
    if (rule !== undefined) covered.add(partKey({ kind: "rule", origin: rule.origin }));
}

function reportUnusedIdentities(
  { as = {} }: GatewayTest,
  reached: ReachedNode,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const { route, listener } = reached;
  const asked = policiesOf(reached)
    .flatMap(accessOf)
    .flatMap((check) => (check.kind === "identity" ? check.variable : []));
  for (const [kind, what] of IDENTITIES) {
    if (as[kind] === undefined || asked.includes(kind)) continue;
    const at = { ...childOf(origin, "as", kind), part: "key" } as const;
    diagnostics.report("unused-identity", at, {
      kind: what,
      where: route === undefined ? `the listener "${listener.name}"` : `the route "${route.name}"`,
    });
  }
}

const IDENTITIES = [
  ["jwt", "a token"],
  ["apiKey", "an API key"],
  ["basicAuth", "a user name and password"],
] as const;

/** A part of a configuration that tests may cover. */
interface CoveredPart {
  readonly kind: "route" | "policy" | "rule";
  /** Display name: `route tools`, `cors of route tools`, or a rule's source. */
  readonly name: string;
  readonly origin: Origin;
}

/** Lists the distinct parts of programs, in the order of the configuration. */
function coverableParts(programs: readonly Program[]): readonly CoveredPart[] {
  const all = programs.flatMap(servedRoutes).flatMap(({ route, listeners }) => {
    const listed = listeners.flatMap((listener) =>
      policiesBefore(listener).map((use) => ({ use, of: `listener ${listener.name}` })),
    );
    const own = policiesMet(undefined, route).map((use) => ({ use, of: `route ${route.name}` }));
    return [
      { kind: "route", name: `route ${route.name}`, origin: route.origin } as const,
      ...[...listed, ...own].flatMap(({ use, of }): readonly CoveredPart[] => [
        { kind: "policy", name: `${use.kind} of ${of}`, origin: use.origin },
        ...accessOf(use)
          .flatMap((check) => (check.kind === "rules" ? check.rules : []))
          .map(({ action, text, origin }) => ({
            kind: "rule" as const,
            name: action === "allow" ? text : `${action}: ${text}`,
            origin,
          })),
      ]),
    ];
  });
  return [...new Map(all.map((part) => [partKey(part), part])).values()];
}

/** Returns a unique string for a part. */
function partKey({ kind, origin }: Pick<CoveredPart, "kind" | "origin">): string {
  return `${kind} ${placeKey(origin)}`;
}
