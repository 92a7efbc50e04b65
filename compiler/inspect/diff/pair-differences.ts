import { decidedPolicies, policiesBefore, policiesMet, withoutRules } from "../../ir/access.ts";
import type { ListenerNode, RouteNode } from "../../ir/program.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import type { ListenerPair } from "./listener-pairs.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { isRefusing } from "./request-ends.ts";
import { routeDifferences, servedBy } from "./route-differences.ts";
import type { RoutePair } from "./route-pairs.ts";
import { shortList } from "./short-list.ts";

/** Compares a pair of routes for the requests that reach them: whether they are served, by which route, and how. */
export function pairDifferences(
  { before, after, requests, region }: RoutePair,
  where: string,
  { before: oldListener, after: newListener, isPassedOn }: Omit<ListenerPair, "hosts">,
  open: OpenQuestions,
): readonly Difference[] {
  const other = isPassedOn ? PASSTHROUGH : NOT_FOUND;
  const paths = [...new Set(requests.map(({ path }) => path))];
  const at = `${where} ${pathsOf(after ?? before, after ? newListener : oldListener) ?? shortList(paths)}`;
  const [request] = requests;
  const example = request && requestText(request, request.isAnyHost ? "" : `//${request.host}`);
  if (before === undefined && after !== undefined) {
    const by: SidePlace = { side: "after", origin: after.origin, text: `route ${after.name}` };
    const guards = newListener === undefined ? [] : [guardsText(newListener, after)];
    const change = `${other.text} -> ${answeredBy(newListener, after)}`;
    return [
      {
        ...plainDifference(
          isRefusing(whole(newListener, after)) ? other.gainedRefusal : other.gained,
          `route ${after.name} (${at})`,
          change,
          by,
        ),
        when: guards,
        example,
      },
    ];
  }
  if (before !== undefined && after === undefined) {
    const by: SidePlace = { side: "before", origin: before.origin, text: `route ${before.name}` };
    const change = `${answeredBy(oldListener, before)} -> ${other.text}`;
    return [
      {
        ...plainDifference(
          isRefusing(whole(oldListener, before)) ? other.lostRefusal : other.lost,
          `route ${before.name} (${at})`,
          change,
          by,
        ),
        example,
      },
    ];
  }
  if (before === undefined || after === undefined) return [];
  const subject = `route ${after.name} (${at})`;
  const chain = (listener: ListenerNode | undefined, route: RouteNode) => ({
    policies: decidedPolicies(listener, route),
    backends: route.backends.map(withoutRules),
    ...(route.refusal && { refusal: route.refusal }),
  });
  const found = routeDifferences(
    subject,
    chain(oldListener, before),
    chain(newListener, after),
    request,
    region,
    open.work,
  );
  open.undecided.push(...found.undecided.map((text) => `${subject} depends on ${text}`));
  // A renamed route that does the same is not a difference.
  const isOther = before.id !== after.id && found.differences.length + found.undecided.length > 0;
  const taken: readonly Difference[] = isOther
    ? [
        {
          ...plainDifference(
            "changes",
            subject,
            `served by route ${before.name} -> route ${after.name}`,
          ),
          when: [`path ${shortList(paths)}`],
          example,
        },
      ]
    : [];
  return [...found.differences, ...taken];
}

/** Prepends the listener's policies to a route. */
function whole(listener: ListenerNode | undefined, route: RouteNode): RouteNode {
  return { ...route, policies: [...policiesBefore(listener), ...route.policies] };
}

/** Directions of gaining and losing a route where requests otherwise get 404. */
const NOT_FOUND = {
  text: "404",
  gained: "opens",
  lost: "closes",
  gainedRefusal: "changes",
  lostRefusal: "changes",
} as const;
/** Directions where TLS is otherwise passed through, which no policy sees. */
const PASSTHROUGH = {
  text: "connections forwarded unread",
  gained: "closes",
  lost: "opens",
  gainedRefusal: "closes",
  lostRefusal: "opens",
} as const;

/** Formats `GET //shop.example.com/cart  x-env: dev`; `authority` is written before the path. */
export function requestText(
  { method, path, headers, query }: RoutePair["requests"][number],
  authority: string,
): string {
  const all = [
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...Object.entries(query).map(([name, value]) => `  ?${name}=${value}`),
  ];
  return [`${method} ${authority}${path}`, ...all].join("");
}

/** Formats the paths in the matches of a route. */
function pathsOf(
  route: RouteNode | undefined,
  listener: ListenerNode | undefined,
): string | undefined {
  const paths = listener && route && pathsByRoute(listener).get(route.id);
  return paths && shortList([...new Set(paths)]);
}

/** Cached paths by listener, since each of its routes may differ. */
const knownPaths = new WeakMap<ListenerNode, ReadonlyMap<string, readonly string[]>>();

function pathsByRoute(listener: ListenerNode): ReadonlyMap<string, readonly string[]> {
  const known = knownPaths.get(listener);
  if (known !== undefined) return known;
  const written = listener.table
    .flatMap(({ entries }) => entries)
    .filter(({ match }) => !match.isDerived);
  const groups = Map.groupBy(written, ({ route }) => route);
  const paths = new Map(
    [...groups].map(([route, entries]) => [route, entries.map(({ match }) => match.path.value)]),
  );
  knownPaths.set(listener, paths);
  return paths;
}

/** Describes what serves the requests of a route. */
export function answeredBy(listener: ListenerNode | undefined, route: RouteNode): string {
  return servedBy(whole(listener, route));
}

/** Formats the policies before a route, or `always: no authentication, no rules`. */
export function guardsText(
  listener: Pick<ListenerNode, "admission" | "preRouting">,
  route: RouteNode,
): string {
  const kinds = policiesMet(listener, route).map(({ kind }) => kind);
  return kinds.length === 0 ? "always: no authentication, no rules" : `behind ${kinds.join(", ")}`;
}
