import type {
  Table,
  TableMatch,
  TablePath,
  TableRequest,
  TableRoute,
  TableValue,
} from "./model.ts";

/** Which of two routes that are equal otherwise comes first: as a file has them, or by age and name as a cluster does. */
export type Order = "file" | "age";

/**
 * Returns the id of the route that Gateway API gives a request to; `undefined` if none matches. Lists everything that
 * matches, and sorts it by the rules of HTTPRoute (hostnames and HTTPRouteRule.matches). Written from the standard,
 * without code of the compiler.
 */
export function decide(table: Table, request: TableRequest, order: Order): string | undefined {
  const host = request.host.toLowerCase().replace(/:[0-9]*$/, "");
  const listener = table.listeners
    .filter(({ hostname }) => namesHost(hostname, host))
    .sort((a, b) => compareKeys(hostKey(b.hostname), hostKey(a.hostname)))[0];
  if (listener === undefined) return undefined;
  const routes = [
    ...listener.routes,
    ...(order === "file"
      ? []
      : table.listeners
          .filter((other) => other !== listener)
          .flatMap((other) => other.routes.filter(({ isShared }) => isShared))),
  ];
  const sorted =
    order === "file"
      ? routes
      : routes.toSorted((a, b) => a.age - b.age || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const candidates = sorted.flatMap((route, place) => candidatesOf(route, place, host, request));
  candidates.sort((a, b) => compareKeys(b.key, a.key) || a.place - b.place);
  return candidates[0]?.id;
}

interface Candidate {
  readonly id: string;
  /** The greater one wins. */
  readonly key: readonly number[];
  readonly place: number;
}

function candidatesOf(
  { id, hostnames, matches }: TableRoute,
  place: number,
  host: string,
  request: TableRequest,
): readonly Candidate[] {
  const names = (hostnames.length === 0 ? [undefined] : hostnames).filter((name) =>
    namesHost(name, host),
  );
  const all: readonly TableMatch[] =
    matches.length === 0
      ? [{ path: undefined, method: undefined, headers: [], query: [] }]
      : matches;
  return names.flatMap((name) =>
    all
      .filter((match) => holds(match, request))
      .map((match) => ({ id, key: [...hostKey(name), ...matchKey(match)], place })),
  );
}

/** "a wildcard label matches one or more labels" */
function namesHost(name: string | undefined, host: string): boolean {
  if (name === undefined) return true;
  const [labels, wanted] = [host.split("."), name.split(".")];
  if (wanted[0] !== "*") return host === name;
  const rest = wanted.slice(1);
  return labels.length > rest.length && labels.slice(-rest.length).join(".") === rest.join(".");
}

/** "the largest number of: characters in a matching non-wildcard hostname, characters in a matching hostname" */
function hostKey(name: string | undefined): readonly number[] {
  if (name === undefined) return [0, 0];
  return name.startsWith("*") ? [0, name.length] : [name.length, name.length];
}

/** "Exact path match, prefix path match with largest number of characters, method match, headers, query params" */
function matchKey({ path, method, headers, query }: TableMatch): readonly number[] {
  const { kind, value } = path ?? { kind: "prefix", value: "/" };
  return [
    kind === "exact" ? 1 : 0,
    kind === "prefix" ? segmentsOf(value).join("/").length + 1 : 0,
    // Of patterns the standard says nothing: they come after prefixes, longer ones first.
    kind === "regex" ? value.length : 0,
    method === undefined ? 0 : 1,
    firstOfEach(headers, (name) => name.toLowerCase()).length,
    firstOfEach(query, (name) => name).length,
  ];
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function holds({ path, method, headers, query }: TableMatch, request: TableRequest): boolean {
  const parameters = new URLSearchParams(queryText(request));
  return (
    (path === undefined || pathHolds(path, request.path)) &&
    (method === undefined || method === request.method) &&
    firstOfEach(headers, (name) => name.toLowerCase()).every((each) =>
      valueHolds(each, headerOf(request, each.name)),
    ) &&
    firstOfEach(query, (name) => name).every((each) =>
      valueHolds(each, parameters.get(each.name) ?? undefined),
    )
  );
}

/** "done on a path element by element basis … a trailing / is ignored" */
function pathHolds({ kind, value }: TablePath, path: string): boolean {
  switch (kind) {
    case "exact":
      return path === value;
    case "prefix": {
      const wanted = segmentsOf(value);
      const found = path.split("/").slice(1);
      return wanted.every((segment, index) => found[index] === segment);
    }
    case "regex":
      return new RegExp(`^(?:${value})$`).test(path);
  }
}

function segmentsOf(prefix: string): readonly string[] {
  const segments = prefix.split("/").slice(1);
  return segments.at(-1) === "" ? segments.slice(0, -1) : segments;
}

/** "If multiple entries specify equivalent names, only the first entry MUST be considered" */
function firstOfEach(
  values: readonly TableValue[],
  key: (name: string) => string,
): readonly TableValue[] {
  return values.filter(
    ({ name }, index) => values.findIndex((other) => key(other.name) === key(name)) === index,
  );
}

function headerOf({ headers }: TableRequest, name: string): string | undefined {
  const found = headers.filter(([sent]) => sent.toLowerCase() === name.toLowerCase());
  return found.length === 0 ? undefined : found.map(([, value]) => value).join(", ");
}

function valueHolds({ kind, value }: TableValue, found: string | undefined): boolean {
  if (found === undefined) return false;
  return kind === "exact" ? found === value : new RegExp(`^(?:${value})$`).test(found);
}

/** The query of a request, as it is sent. */
export function queryText({ query }: TableRequest): string {
  return query.map(([name, value]) => `${name}=${value}`).join("&");
}
