import fc from "fast-check";
import type {
  Table,
  TableListener,
  TableMatch,
  TablePath,
  TableRequest,
  TableRoute,
  TableValue,
} from "./model.ts";

// A small vocabulary: names, paths and values that meet each other often.

const exactHosts = ["test", "a.test", "b.a.test", "c.b.a.test", "x.test", "aa.test"];
const hosts = [...exactHosts, "*.test", "*.a.test", "*.b.a.test"];
const segment = fc.constantFrom("a", "b", "ab", "c", "%C3%A9", "A", "a-b", "a%20b");
const numbered = fc.nat(60).map((number) => `s${number}`);
const path = (each: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(each, { maxLength: 4 }), fc.boolean())
    .map(
      ([segments, hasSlash]) =>
        `/${segments.join("/")}${hasSlash && segments.length > 0 ? "/" : ""}`,
    );
/** Patterns, each with paths that it fits. */
const patterns: Readonly<Record<string, readonly string[]>> = {
  "/a.*": ["/a", "/ab/c"],
  "/[ab]+/b": ["/ab/b", "/a/b"],
  "/a|/b": ["/a", "/b"],
  "/(a|b)/c": ["/a/c", "/b/c"],
  "/a/?": ["/a", "/a/"],
  ".*b": ["/b", "/a/ab"],
  "/.*": ["/", "/A/c"],
  "/(?:[^/]+/)*c": ["/c", "/a/b/c"],
  "/a/b|/b/a|/c": ["/a/b", "/b/a", "/c"],
  "/s[0-9]/.*": ["/s1/a"],
  ".*/s1[0-9]*": ["/s1", "/a/s12"],
  "/%20": ["/%20"],
};
const regexes = fc.constantFrom(...Object.keys(patterns));
const values = fc.constantFrom("1", "2", "12", "a b", "x");
const valuePatterns = fc.constantFrom("[0-9]+", "1|2", "1.*", ".*", "a.b", "x?");

const valueMatch = (names: readonly string[]): fc.Arbitrary<TableValue> =>
  fc.oneof(
    fc.record({
      name: fc.constantFrom(...names),
      kind: fc.constant("exact" as const),
      value: values,
    }),
    fc.record({
      name: fc.constantFrom(...names),
      kind: fc.constant("regex" as const),
      value: valuePatterns,
    }),
  );

/** One name in two spellings is allowed, the same spelling twice is not (Gateway API, list type map). */
const valueMatches = (names: readonly string[]) =>
  fc.oneof(
    { arbitrary: fc.constant([]), weight: 3 },
    {
      arbitrary: fc.uniqueArray(valueMatch(names), { maxLength: 3, selector: ({ name }) => name }),
      weight: 1,
    },
  );

const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    { arbitrary: fc.constant([]), weight: 3 },
    { arbitrary: fc.array(arbitrary, { maxLength: 3 }), weight: 1 },
  );

const tablePath = (each: fc.Arbitrary<string>): fc.Arbitrary<TablePath | undefined> =>
  fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 1 },
    { arbitrary: path(each).map((value) => ({ kind: "exact" as const, value })), weight: 4 },
    { arbitrary: path(each).map((value) => ({ kind: "prefix" as const, value })), weight: 5 },
    { arbitrary: regexes.map((value) => ({ kind: "regex" as const, value })), weight: 2 },
  );

const match = (each: fc.Arbitrary<string>): fc.Arbitrary<TableMatch> =>
  fc.record({
    path: tablePath(each),
    method: fc.option(fc.constantFrom("GET", "POST", "PUT"), { nil: undefined, freq: 2 }),
    headers: valueMatches(["x-a", "X-B", "X-A", "accept"]),
    query: valueMatches(["p", "q", "P"]),
  });

const route = (
  each: fc.Arbitrary<string>,
  names: readonly string[],
  matches: number,
): fc.Arbitrary<Omit<TableRoute, "id">> =>
  fc.record({
    hostnames: fc.oneof(
      fc.constant([]),
      fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    ),
    matches: fc.array(match(each), { maxLength: matches }),
    age: fc.nat(2),
    isShared: fc.boolean(),
  });

/** Hosts enough for a port or a listener that looks them up. */
const manyHosts = [
  ...hosts,
  ...Array.from({ length: 40 }, (_, index) =>
    index % 4 === 0 ? `*.h${index}.test` : `h${index}.test`,
  ),
];

const few = listeners(hosts, 3, route(segment, hosts, 3), 6);
/** Around the length at which a chain becomes a lookup, and beyond it. */
const threshold = listeners(hosts, 2, route(segment, hosts, 3), 12, 6);
const large = listeners(hosts, 1, route(fc.oneof(segment, numbered), hosts, 8), 40, 20);
const manyNames = listeners(manyHosts, 1, route(segment, manyHosts, 3), 25, 10);
const manyListeners = listeners(manyHosts, 30, route(segment, manyHosts, 2), 2, 0, 19);

const sizes = [
  { arbitrary: few, weight: 10 },
  { arbitrary: threshold, weight: 5 },
  { arbitrary: large, weight: 2 },
  { arbitrary: manyNames, weight: 2 },
];

/** Tables of every size; `id`s are given in the order of the routes. */
export const tables: fc.Arbitrary<Table> = fc
  .oneof(...sizes, { arbitrary: manyListeners, weight: 1 })
  .map(numberRoutes);

/** Tables with few listeners: a Gateway has at most 64. */
export const clusterTables: fc.Arbitrary<Table> = fc.oneof(...sizes).map(numberRoutes);

type Draft = readonly (Omit<TableListener, "routes"> & {
  readonly routes: readonly Omit<TableRoute, "id">[];
})[];

function listeners(
  names: readonly string[],
  count: number,
  each: fc.Arbitrary<Omit<TableRoute, "id">>,
  routes: number,
  leastRoutes = 0,
  leastListeners = 1,
): fc.Arbitrary<Draft> {
  return fc.uniqueArray(
    fc.record({
      hostname: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 2 },
        { arbitrary: fc.constantFrom(...names), weight: 3 },
      ),
      routes: fc.array(each, { minLength: leastRoutes, maxLength: routes }),
    }),
    {
      minLength: leastListeners,
      maxLength: count,
      selector: ({ hostname }) => hostname,
    },
  );
}

function numberRoutes(draft: Draft): Table {
  let count = 0;
  return {
    listeners: draft.map(({ hostname, routes }) => ({
      hostname,
      routes: routes.map((each) => ({ ...each, id: `r${count++}` })),
    })),
  };
}

/** Requests for a table: half of them made to fit one of its matches, but for some of its conditions. */
export function requestsFor(table: Table): fc.Arbitrary<readonly TableRequest[]> {
  const known = table.listeners.flatMap(({ hostname, routes }) =>
    routes.flatMap((each) =>
      each.matches.map((one) => ({ match: one, names: [...each.hostnames, hostname ?? "x.test"] })),
    ),
  );
  const made =
    known.length === 0
      ? anyRequest
      : fc
          .tuple(fc.constantFrom(...known), anyRequest, fc.nat(), fc.nat(9))
          .map(([{ match: wanted, names }, random, pick, spoiled]) =>
            fitting(wanted, names[pick % names.length] ?? "x.test", random, spoiled),
          );
  return fc.array(fc.oneof({ arbitrary: made, weight: 3 }, { arbitrary: anyRequest, weight: 1 }), {
    minLength: 30,
    maxLength: 30,
    size: "max",
  });
}

const anyRequest: fc.Arbitrary<TableRequest> = fc.record({
  host: fc
    .tuple(fc.constantFrom(...exactHosts, "h1.test", "z.h4.test", "other.example"), fc.nat(5))
    .map(([host, kind]) => spelled(host, kind)),
  method: fc.constantFrom("GET", "GET", "POST", "PUT", "PATCH"),
  path: fc.oneof(path(segment), path(fc.oneof(segment, numbered))),
  query: seldom(
    fc.tuple(
      fc.constantFrom("p", "q", "P", "%70"),
      fc.constantFrom("1", "2", "a+b", "a%20b", "", "12"),
    ),
  ).map((all) => onceEach(all, decodeURIComponent)),
  headers: seldom(
    fc.tuple(
      fc.constantFrom("x-a", "X-A", "x-b", "accept"),
      fc.constantFrom("1", "2", "12", "x", "a b"),
    ),
  ).map((all) => onceEach(all, (name) => name.toLowerCase())),
});

/**
 * The first entry of each name. Gateway API leaves it open what a repeated name means to a match; gwc refuses the request, which
 * repeated-headers.test.ts holds.
 */
function onceEach<Entry extends readonly [name: string, value: string]>(
  entries: readonly Entry[],
  nameOf: (name: string) => string,
): readonly Entry[] {
  const names = entries.map(([name]) => nameOf(name));
  return entries.filter((_, index) => names.indexOf(names[index] ?? "") === index);
}

/** A host as clients write it: with a port, in capitals. */
function spelled(host: string, kind: number): string {
  if (kind === 0) return `${host}:8080`;
  return kind === 1 ? host.toUpperCase() : host;
}

function fitting(
  { path: wanted, method, headers, query }: TableMatch,
  name: string,
  random: TableRequest,
  spoiled: number,
): TableRequest {
  const host = name.replace("*", spoiled % 2 === 0 ? "w" : "w.w");
  return {
    host: spoiled === 0 ? random.host : spelled(host, spoiled),
    method: spoiled === 1 ? random.method : (method ?? random.method),
    path: spoiled === 2 ? random.path : fittingPath(wanted, random.path),
    query:
      spoiled === 3
        ? random.query
        : onceEach(
            query.map(({ name: key, value }) => [key, encodeURIComponent(sample(value))] as const),
            decodeURIComponent,
          ),
    headers:
      spoiled === 4
        ? random.headers
        : onceEach(
            headers.map(({ name: key, value }) => [key, sample(value)] as const),
            (key) => key.toLowerCase(),
          ),
  };
}

function fittingPath(wanted: TablePath | undefined, random: string): string {
  if (wanted === undefined) return random;
  const { kind, value } = wanted;
  if (kind === "exact") return value;
  if (kind === "regex") return patterns[value]?.[random.length % 2] ?? random;
  const prefix = value.replace(/\/$/, "");
  if (random.length % 4 === 0) return prefix === "" ? "/" : prefix;
  const isBeside = random.length % 4 === 1 && prefix !== "";
  return `${prefix}${isBeside ? random.slice(1) : random}`;
}

/** A value that fits a value or one of the patterns. */
function sample(value: string): string {
  if (value === "[0-9]+" || value === "1|2" || value === "1.*" || value === ".*") return "1";
  return value === "a.b" ? "a b" : value === "x?" ? "x" : value;
}
