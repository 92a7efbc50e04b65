import type { Checked } from "../../compile.ts";
import { policiesBefore, policiesMet } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, RouteNode } from "../../ir/program.ts";
import { policyOf } from "../../policies/index.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { reachedRoute } from "../explain/request.ts";
import { reroutingPolicy } from "../routing/may-reroute.ts";
import { chainVerdicts, type PolicyVerdict } from "./chain-verdicts.ts";
import {
  headerReadings,
  type OneReading,
  repeatedInMatch,
  worstAccess,
} from "./header-readings.ts";
import { ALWAYS_OPEN, type Asker, type RouteAccess } from "./item-access.ts";

/** Verdicts of the policies on a request, or the reason why it reaches no policy. */
export type RequestAccess =
  | { readonly kind: "asked"; readonly access: RouteAccess }
  | { readonly kind: "none"; readonly reason: string };

/** Decides whether a request gets through, as `curl` sends it, with the given headers only. */
export function requestAccess(
  checked: Pick<Checked, "programs">,
  method: string,
  url: URL,
  asker: Asker,
): RequestAccess {
  return accessOfReadings(asker, (headers) => {
    const reached = reachedRoute(checked, method, url, headers);
    const at = reached.kind === "route" ? reached : reached.at;
    if (at === undefined)
      return { kind: "none", reason: reached.kind === "none" ? reached.reason : "" };
    const matched = repeatedInMatch(at.listener, { method, ...at.seen }, asker.headers, headers);
    if (matched !== undefined)
      return {
        kind: "none",
        reason: `matches read the header ${matched}, which is repeated: 400`,
      };
    const route = reached.kind === "route" ? reached.route : undefined;
    const { host, path, search } = at.seen;
    const head = { method, scheme: url.protocol.slice(0, -1), host, path, search };
    const reason = reached.kind === "none" ? reached.reason : "";
    return headAccess(head, { listener: at.listener, route, reason }, { ...asker, headers });
  });
}

/** Returns the most restrictive access among the readings of repeated headers. */
export function accessOfReadings(
  { headers }: Asker,
  accessOf: (headers: OneReading) => RequestAccess,
): RequestAccess {
  const found = headerReadings(headers)?.map(accessOf) ?? [];
  const verdictsOf = (each: RequestAccess) =>
    each.kind === "asked" ? each.access.verdicts : undefined;
  return (
    worstAccess(found, verdictsOf) ?? {
      kind: "none",
      reason: "too many repeated headers: 403",
    }
  );
}

/** Head of a request as rules see it. */
export interface SeenHead {
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly search: string;
}

/** Listener and route of a request; `route` is `undefined` if none matches, for `reason`. */
export interface ReachedPlace {
  readonly listener: ListenerNode;
  readonly route: RouteNode | undefined;
  readonly reason: string;
}

/** Returns the verdicts of the policies on a request head. */
export function headAccess(
  { method, scheme, host, path, search }: SeenHead,
  { listener, route: found, reason }: ReachedPlace,
  { identities, headers, address }: Asker & { readonly headers: OneReading },
): RequestAccess {
  const before = policiesBefore(listener);
  if (found === undefined && before.length === 0) return { kind: "none", reason };
  const data = {
    request: {
      ...{ method, scheme, host, path, pathAndQuery: `${path}${search}` },
      headers: { host, ...headers },
    },
    source: { address },
  };
  const open: readonly DataPath[] = [
    ...ALWAYS_OPEN,
    ...(identities.isAnyone ? [["source"], ["request", "headers"]] : []),
    ...(address === undefined ? [["source", "address"]] : []),
  ];
  const isRerouted = reroutingPolicy(listener) !== undefined;
  const route = isRerouted ? undefined : found;
  const policies = route === undefined ? before : policiesMet(listener, route);
  const end = respondsAt(policies, method, headers);
  const met = chainVerdicts(policies.slice(0, end), { data, open, present: [] }, identities);
  const responding = end === undefined ? undefined : policies[end];
  const ending =
    responding !== undefined
      ? [preflightVerdict(responding, headers)]
      : route === undefined
        ? [withoutRoute(listener, found === undefined ? reason : "")]
        : [];
  const isRefused = met.at(-1)?.verdict === "refuses";
  const verdicts = isRefused ? met : [...met, ...ending];
  return { kind: "asked", access: { route, listener, verdicts } };
}

/** Returns the verdict after the listener's policies if the route is unknown or missing. */
function withoutRoute(listener: ListenerNode, reason: string): PolicyVerdict {
  const { preRouting, origin } = listener;
  const last = preRouting?.policies.at(-1);
  if (preRouting?.isFinal === true && last !== undefined)
    return {
      policy: last.kind,
      verdict: "passes",
      reason: "answers every request itself",
      origin: last.origin,
    };
  const changing = reroutingPolicy(listener);
  if (changing !== undefined)
    return {
      policy: changing.kind,
      verdict: "undecided",
      reason: "may change the request before routing",
      origin: changing.origin,
    };
  return { policy: "routing", verdict: "refuses", reason, origin };
}

/** Returns the index of the policy that answers the request, so that later ones do not run; `undefined` if no policy does. */
function respondsAt(
  policies: readonly PolicyUse[],
  method: string,
  headers: OneReading,
): number | undefined {
  if (method !== "OPTIONS" || headers.origin === undefined) return undefined;
  const at = policies.findIndex(({ kind }) => policyOf(kind).traits.servesPreflights === true);
  return at < 0 ? undefined : at;
}

/** Returns the verdict of a policy that answers preflights; without `Access-Control-Request-Method` it depends on the origin. */
function preflightVerdict({ kind, origin }: PolicyUse, headers: OneReading): PolicyVerdict {
  const isPreflight = (headers["access-control-request-method"] ?? "") !== "";
  return isPreflight
    ? { policy: kind, verdict: "passes", reason: "answers preflights itself", origin }
    : { policy: kind, verdict: "undecided", reason: "answers allowed origins", origin };
}
