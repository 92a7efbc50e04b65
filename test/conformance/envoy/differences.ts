import type { Observation } from "./observation.ts";

/** Results of both proxies for a request. */
export interface Compared {
  readonly name: string;
  readonly envoy: Observation | undefined;
  readonly gateway: Observation | undefined;
}

/** A difference that is as it should be. */
export interface KnownDifference {
  /** Matches the path of the value: `client.status`, `upstream.0.headers.x-some.0`, `asked.1.request_body`. */
  readonly at: RegExp;
  /** The requests where it is; absent: any. */
  readonly requests?: readonly string[];
  readonly reason: string;
}

/** One value that is not the same. */
export interface Difference {
  readonly request: string;
  readonly at: string;
  /** JSON; `undefined` if there is no value. */
  readonly envoy: string | undefined;
  readonly gateway: string | undefined;
}

/** The differences that are not on the list. */
export function unexplained(
  compared: readonly Compared[],
  known: readonly KnownDifference[],
): readonly Difference[] {
  const found = compared.flatMap(differences);
  return found.filter((each) => !known.some((entry) => explains(entry, each)));
}

/** The reasons of the list that explain nothing. */
export function unseen(
  compared: readonly Compared[],
  known: readonly KnownDifference[],
): readonly string[] {
  const found = compared.flatMap(differences);
  return known.flatMap((entry) => {
    const explained = found.filter((each) => explains(entry, each)).map(({ request }) => request);
    if (explained.length === 0) return [entry.reason];
    const missing = (entry.requests ?? []).filter((name) => !explained.includes(name));
    return missing.map((name) => `${name}: ${entry.reason}`);
  });
}

function explains({ at, requests }: KnownDifference, difference: Difference): boolean {
  return at.test(difference.at) && (requests?.includes(difference.request) ?? true);
}

function differences({ name, envoy, gateway }: Compared): readonly Difference[] {
  const [theirs, ours] = [leaves(envoy), leaves(gateway)];
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((at) => {
    const both = { envoy: theirs.get(at), gateway: ours.get(at) };
    return both.envoy === both.gateway ? [] : [{ request: name, at, ...both }];
  });
}

/** Values as JSON by their paths. */
function leaves(value: unknown, path = ""): ReadonlyMap<string, string> {
  if (typeof value !== "object" || value === null) return new Map([[path, JSON.stringify(value)]]);
  const entries = Object.entries(value);
  return new Map(
    entries.flatMap(([key, each]) => [...leaves(each, path === "" ? key : `${path}.${key}`)]),
  );
}
