import type { Checked } from "../../compile.ts";
import { policiesBefore, policiesMet } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode } from "../../ir/program.ts";
import { policyOf } from "../../policies/index.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { reachedRoute } from "../explain/request.ts";
import { reroutingPolicy } from "../routing/may-reroute.ts";
import { chainVerdicts, type PolicyVerdict } from "./chain-verdicts.ts";
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
  { identities, headers, address }: Asker,
): RequestAccess {
  const reached = reachedRoute(checked, method, url, headers);
  const at = reached.kind === "route" ? reached : reached.at;
  const before = policiesBefore(at?.listener);
  if (at === undefined || (reached.kind === "none" && before.length === 0))
    return { kind: "none", reason: reached.kind === "none" ? reached.reason : "" };
  const { listener, seen } = at;
  const { host, path, search } = seen;
  const data = {
    request: {
      method,
      scheme: url.protocol.slice(0, -1),
      ...{ host, path, pathAndQuery: `${path}${search}` },
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
  const route = reached.kind === "route" && !isRerouted ? reached.route : undefined;
  const policies = route === undefined ? before : policiesMet(listener, route);
  const end = respondsAt(policies, method, headers);
  const met = chainVerdicts(policies.slice(0, end), { data, open, present: [] }, identities);
  const responding = end === undefined ? undefined : policies[end];
  const ending =
    responding !== undefined
      ? [preflightVerdict(responding, headers)]
      : route === undefined
        ? [withoutRoute(listener, reached)]
        : [];
  const isRefused = met.at(-1)?.verdict === "refuses";
  const verdicts = isRefused ? met : [...met, ...ending];
  return { kind: "asked", access: { route, listener, verdicts } };
}

/** What becomes of a request behind its listener's policies when its route is not known, or there is none. */
function withoutRoute(
  listener: ListenerNode,
  reached: ReturnType<typeof reachedRoute>,
): PolicyVerdict {
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
  const reason = reached.kind === "none" ? reached.reason : "";
  return { policy: "routing", verdict: "refuses", reason, origin };
}

/** The policy that responds to a request itself, so that none behind it is asked; undefined: none does. */
function respondsAt(
  policies: readonly PolicyUse[],
  method: string,
  headers: Asker["headers"],
): number | undefined {
  if (method !== "OPTIONS" || headers.origin === undefined) return undefined;
  const at = policies.findIndex(({ kind }) => policyOf(kind).servesPreflights === true);
  return at < 0 ? undefined : at;
}

/** Of OPTIONS without the method that is asked for it depends on the origin whether the policy responds. */
function preflightVerdict({ kind, origin }: PolicyUse, headers: Asker["headers"]): PolicyVerdict {
  const isPreflight = (headers["access-control-request-method"] ?? "") !== "";
  return isPreflight
    ? { policy: kind, verdict: "passes", reason: "responds to preflights itself", origin }
    : { policy: kind, verdict: "undecided", reason: "responds to allowed origins", origin };
}
