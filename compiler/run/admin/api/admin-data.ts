import type { LiveView } from "../view.ts";
import type { FigureKind, FigureRange } from "./admin-api.ts";
import { gatewayData } from "./gateway-data.ts";
import { graphData } from "./graph-data.ts";
import { playgroundData } from "./playground-data.ts";
import { requestData, requestsData } from "./request-data.ts";
import { routesData } from "./routes-data.ts";
import { keysData, usageData } from "./store-data.ts";

/** Returns the data at a path of the API; `undefined` if there is none. */
export async function adminData(
  view: LiveView,
  path: string,
  query: URLSearchParams,
): Promise<object | undefined> {
  const [name = "", ...rest] = path.split("/");
  const read = Object.hasOwn(SOURCES, name) ? SOURCES[name] : undefined;
  return read?.(view, query, rest.join("/"));
}

type Source = (
  view: LiveView,
  query: URLSearchParams,
  rest: string,
) => object | undefined | Promise<object | undefined>;

const SOURCES: Readonly<Record<string, Source>> = {
  gateway: gatewayData,
  routes: routesData,
  figures: ({ journal: { figures } }, query) => {
    const range = RANGES.find((each) => each === query.get("range")) ?? "1h";
    const kind = KINDS.find((each) => each === query.get("kind"));
    const name = query.get("name");
    return figures.report(range, kind === undefined || name === null ? undefined : { kind, name });
  },
  requests: requestsData,
  // The request that the playground sent, by the port that it was sent from.
  request: async ({ journal }, query) => {
    const entry = await journal.ofPort(Number(query.get("port")));
    return entry === undefined ? undefined : requestData(entry);
  },
  graph: graphData,
  access: (view) => view.reviewAccess(),
  playground: (view) => ({ routes: playgroundData(view) }),
  usage: (view, query) =>
    usageData(view, {
      since: query.get("since"),
      until: query.get("until"),
      by: query.get("by"),
    }),
  keys: keysData,
  changes: (view, _, rest) => (rest === "" ? generations(view) : view.compare(Number(rest))),
  code: ({ current: { modules } }, _, rest) => {
    if (rest === "") return { paths: modules.map(({ path }) => path) };
    return modules.find(({ path }) => path === rest);
  },
};

const RANGES: readonly FigureRange[] = ["15m", "1h", "24h"];
const KINDS: readonly FigureKind[] = ["route", "tool", "model"];

function generations({ generations: all }: LiveView): object {
  return {
    generations: all.map(({ number, at, changes }) => ({ number, at: at.getTime(), changes })),
  };
}
