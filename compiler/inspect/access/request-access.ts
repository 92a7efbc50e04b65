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

/** What the policies do with a request, or why it reaches none. */
export type RequestAccess =
  | { readonly kind: "asked"; readonly access: RouteAccess }
  | { readonly kind: "none"; readonly reason: string };

/** Whether a request gets through: as `curl` would send it, with the headers that are given and no others. */
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
        reason: `the header ${matched} is repeated, and matches read it: 400`,
      };
    const route = reached.kind === "route" ? reached.route : undefined;
    const { host, path, search } = at.seen;
    const head = { method, scheme: url.protocol.slice(0, -1), host, path, search };
    const reason = reached.kind === "none" ? reached.reason : "";
    return headAccess(head, { listener: at.listener, route, reason }, { ...asker, headers });
  });
}

/** What becomes of a request whose headers may have several lines. */
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
      reason: "its repeated headers have too many readings: 403",
    }
  );
}

/** The head of a request, as rules see it. */
export interface SeenHead {
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly search: string;
}

/** Where a request has come to. `route`: undefined for none, for that reason. */
export interface ReachedPlace {
  readonly listener: ListenerNode;
  readonly route: RouteNode | undefined;
  readonly reason: string;
}

/** What the policies do with a request, by its head. */
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

/** What becomes of a request behind its listener's policies when its route is not known, or there is none. */
function withoutRoute(listener: ListenerNode, reason: string): PolicyVerdict {
  const { preRouting, origin } = listener;
  const last = preRouting?.policies.at(-1);
  if (preRouting?.isFinal === true && last !== undefined)
    return {
      policy: last.kind,
      verdict: "passes",
      reason: "responds to every request itself",
      origin: last.origin,
    };
  const changing = reroutingPolicy(listener);
  if (changing !== undefined)
    return {
      policy: changing.kind,
      verdict: "undecided",
      reason: "may change the request before its route is chosen",
      origin: changing.origin,
    };
  return { policy: "routing", verdict: "refuses", reason, origin };
}

/** The policy that responds to a request itself, so that none behind it is asked; undefined: none does. */
function respondsAt(
  policies: readonly PolicyUse[],
  method: string,
  headers: OneReading,
): number | undefined {
  if (method !== "OPTIONS" || headers.origin === undefined) return undefined;
  const at = policies.findIndex(({ kind }) => policyOf(kind).servesPreflights === true);
  return at < 0 ? undefined : at;
}

/** Of OPTIONS without the method that is asked for it depends on the origin whether the policy responds. */
function preflightVerdict({ kind, origin }: PolicyUse, headers: OneReading): PolicyVerdict {
  const isPreflight = (headers["access-control-request-method"] ?? "") !== "";
  return isPreflight
    ? { policy: kind, verdict: "passes", reason: "responds to preflights itself", origin }
    : { policy: kind, verdict: "undecided", reason: "responds to allowed origins", origin };
}
