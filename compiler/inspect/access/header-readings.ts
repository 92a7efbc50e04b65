import type { ListenerNode } from "../../ir/program.ts";
import { coversHost, matchesPath, matchesValue } from "../routing/match-request.ts";
import type { PolicyVerdict } from "./chain-verdicts.ts";

/** Headers by lower-case name; a list holds the lines of a repeated header. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Headers with one value each, by lower-case name. */
export type OneReading = Readonly<Record<string, string>>;

/** Maximum number of readings of a request; the gateway refuses requests with more. */
const MAX_READINGS = 1_000;

/**
 * Returns the readings of repeated headers: all lines joined, and every line by itself. A request gets through only if
 * each reading does. `undefined` if there are more than MAX_READINGS.
 */
export function headerReadings(headers: SentHeaders): readonly OneReading[] | undefined {
  let readings: readonly OneReading[] = [{}];
  for (const [name, value] of Object.entries(headers)) {
    const lines = typeof value === "string" ? [value] : value;
    const joined = lines.join(name === "cookie" ? "; " : ", ");
    const options = [...new Set([joined, ...lines])];
    readings = readings.flatMap((each) => options.map((option) => ({ ...each, [name]: option })));
    if (readings.length > MAX_READINGS) return undefined;
  }
  return readings;
}

/** Returns the most restrictive result among the readings of one request. */
export function worstAccess<Access>(
  all: readonly Access[],
  verdictsOf: (access: Access) => readonly PolicyVerdict[] | undefined,
): Access | undefined {
  const severity = (access: Access): number => {
    const verdicts = verdictsOf(access);
    if (verdicts === undefined) return 3;
    if (verdicts.some(({ verdict }) => verdict === "refuses")) return 2;
    return verdicts.some(({ verdict }) => verdict === "depends" || verdict === "undecided") ? 1 : 0;
  };
  return all.toSorted((a, b) => severity(b) - severity(a))[0];
}

/** Headers that are lists by definition: matches read all lines joined (runtime/http/routing/matched-values.ts). */
const LISTS: ReadonlySet<string> = new Set([
  ...["accept", "accept-charset", "accept-encoding", "accept-language", "cache-control"],
  ...["cookie", "forwarded", "if-match", "if-none-match", "pragma", "te", "trailer", "via"],
]);

/**
 * Returns the name of a repeated header that a match reads before a route is found, which the gateway refuses with 400;
 * `undefined` if no match reads one. `reading` has the headers with their lines joined.
 */
export function repeatedInMatch(
  { table }: ListenerNode,
  { method, hostname, path }: MatchedHead,
  headers: SentHeaders,
  reading: OneReading,
): string | undefined {
  const isRepeated = (name: string): boolean => {
    const lines = headers[name];
    return typeof lines === "object" && lines.length > 1 && !LISTS.has(name);
  };
  for (const { match } of table
    .filter((each) => coversHost(each.hostname, hostname))
    .flatMap(({ entries }) => entries)) {
    if (match.method !== undefined && match.method !== method) continue;
    if (!matchesPath(match.path, path)) continue;
    const read = match.headers.find(({ name }) => isRepeated(name));
    if (read !== undefined) return read.name;
    const isMet = match.headers.every((each) => matchesValue(each, reading[each.name]));
    if (isMet && match.query.length === 0) return undefined;
  }
  return undefined;
}

/** Parts of a request that matches read besides headers and parameters. */
interface MatchedHead {
  readonly method: string;
  readonly hostname: string;
  readonly path: string;
}
