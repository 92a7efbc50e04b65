import type { TrialCall, TrialOutcome } from "../../../runtime/trial/trial.ts";
import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { Rule } from "../../model/rules.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import type { Expectation, GatewayTest } from "./test-schema.ts";

/** An unmet expectation. */
export interface UnmetExpectation {
  /** Path below `expect`. */
  readonly path: ConfigPath;
  /** Subject: `the status`. */
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** Result of a test, for comparison with its expectations. */
export interface TestResult {
  readonly outcome: TrialOutcome;
  /** The deciding rule; `undefined` if no rule decided. */
  readonly rule: Rule | undefined;
}

const ALLOWED = { true: "allowed", false: "refused" } as const;

/** Lists the unmet expectations of a test. */
export function unmetExpectations(
  { expect, list }: GatewayTest,
  { outcome, rule }: TestResult,
): readonly UnmetExpectation[] {
  const { allowed, backend, listed } = expect;
  const headers = headersOf(outcome.headers);
  return [
    ...(allowed === undefined
      ? []
      : sameWords(["allowed"], "it", ALLOWED[`${isPassed(outcome)}`], ALLOWED[`${allowed}`])),
    ...same(["status"], "the status", outcome.status, expect.status),
    ...same(["reason"], "the reason", outcome.reason, expect.reason),
    ...same(["rule"], "the deciding rule", rule?.expression.source, expect.rule),
    ...same(["route"], "the route", outcome.route, expect.route),
    ...(listed === undefined || list === undefined
      ? []
      : sameNames(["listed"], "the list", listedNames(outcome, list), listed)),
    ...sameHeaders(["headers"], "the response's", headers, expect.headers),
    ...holds(["contains"], "the response's body", outcome.body, expect.contains),
    ...(backend === undefined ? [] : unmetByBackend(backend, outcome.calls)),
  ];
}

/** Describes the outcome of a request in terms that must be equal for all clients of a route. */
export function verdictText({ list }: GatewayTest, outcome: TrialOutcome): string {
  if (!isPassed(outcome))
    return `refused with ${outcome.status ?? "no response"}${outcome.reason ? ` ${outcome.reason}` : ""}`;
  return list === undefined ? "allowed" : `shown ${namesText(listedNames(outcome, list))}`;
}

/** Whether a request got through, so that no policy refused it. */
export function isPassed({ status, reason }: TrialOutcome): boolean {
  const isOwn = reason === "DirectResponse" || reason === "Redirect";
  return status !== undefined && (reason === undefined || isOwn);
}

function unmetByBackend(
  { server, path, headers, contains }: NonNullable<Expectation["backend"]>,
  calls: readonly TrialCall[],
): readonly UnmetExpectation[] {
  // The backend is called last, except for mirrored requests.
  const call = calls.findLast((each) => each.server === server) ?? calls.at(-1);
  if (call === undefined)
    return [{ path: ["backend"], what: "the backend", found: "not called", expected: "a request" }];
  return [
    ...same(["backend", "server"], "the backend", call.server, server),
    ...same(["backend", "path"], "the path that the backend gets", call.path, path),
    ...sameHeaders(["backend", "headers"], "the backend's", headersOf(call.headers), headers),
    ...holds(["backend", "contains"], "the body that the backend gets", call.body, contains),
  ];
}

function same(
  path: ConfigPath,
  what: string,
  found: string | number | undefined,
  expected: string | number | undefined,
): readonly UnmetExpectation[] {
  if (expected === undefined || found === expected) return [];
  return [{ path, what, found: shown(found), expected: shown(expected) }];
}

function sameWords(
  path: ConfigPath,
  what: string,
  found: string,
  expected: string,
): readonly UnmetExpectation[] {
  return found === expected ? [] : [{ path, what, found, expected }];
}

function sameNames(
  path: ConfigPath,
  what: string,
  found: readonly string[],
  expected: readonly string[],
): readonly UnmetExpectation[] {
  return sameWords(path, what, namesText(found), namesText(expected));
}

function sameHeaders(
  path: ConfigPath,
  whose: string,
  found: ReadonlyMap<string, string>,
  expected: Readonly<Record<string, string | null>> = {},
): readonly UnmetExpectation[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const has = found.get(name.toLowerCase());
    if (has === (value ?? undefined)) return [];
    const what = `${whose} header ${name.toLowerCase()}`;
    return [
      { path: [...path, name], what, found: shown(has), expected: shown(value ?? undefined) },
    ];
  });
}

function holds(
  path: ConfigPath,
  what: string,
  found: string,
  part: string | undefined,
): readonly UnmetExpectation[] {
  if (part === undefined || found.includes(part)) return [];
  return [{ path, what, found: shown(shortened(found)), expected: `one with ${shown(part)}` }];
}

/** Maximum number of characters of a body in messages. */
const MAX_SHOWN = 200;

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function shown(value: string | number | undefined): string {
  if (value === undefined) return "none";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** Formats names in sorted order, as order does not matter. */
function namesText(names: readonly string[]): string {
  return `[${names.toSorted().join(", ")}]`;
}

/** Returns headers by lower-case name; repeated ones are joined with a comma, as in HTTP. */
function headersOf(list: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] ?? "").toLowerCase();
    const before = found.get(name);
    found.set(name, before === undefined ? (list[at + 1] ?? "") : `${before}, ${list[at + 1]}`);
  }
  return found;
}

/** Returns the names in the response to an MCP list request; empty for other responses. */
export function listedNames(
  { body }: TrialOutcome,
  kind: NonNullable<GatewayTest["list"]>,
): readonly string[] {
  const text = /^data: ?(.*)$/m.exec(body)?.[1] ?? body;
  const items: unknown = Object(Object(valueOfJson(text)).result)[kind];
  return Array.isArray(items) ? items.map((item) => String(Object(item).uri ?? item.name)) : [];
}
