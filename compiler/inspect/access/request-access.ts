import type { Checked } from "../../compile.ts";
import { policiesMet } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import { policyOf } from "../../policies/index.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { reachedRoute } from "../explain/request.ts";
import { chainVerdicts, type PolicyVerdict } from "./chain-verdicts.ts";
import { ALWAYS_OPEN, type Asker, type RouteAccess } from "./item-access.ts";

/** What the policies do with a request, or why it reaches none. */
export type RequestAccess =
  | { readonly kind: "route"; readonly access: RouteAccess }
  | { readonly kind: "none"; readonly reason: string };

/** Whether a request gets through: as `curl` would send it, with the headers that are given and no others. */
export function requestAccess(
  checked: Pick<Checked, "programs">,
  method: string,
  url: URL,
  { identities, headers, address }: Asker,
): RequestAccess {
  const reached = reachedRoute(checked, method, url, headers);
  if (reached.kind === "none") return reached;
  const { route, listener, seen } = reached;
  const { host, path, search } = seen;
  const data = {
    request: {
      method,
      scheme: url.protocol.slice(0, -1),
      host,
      path,
      pathAndQuery: `${path}${search}`,
      headers: { host, ...headers },
    },
    source: { address },
  };
  const open: readonly DataPath[] = [
    ...ALWAYS_OPEN,
    ...(identities.isAnyone ? [["source"], ["request", "headers"]] : []),
    ...(address === undefined ? [["source", "address"]] : []),
  ];
  const policies = policiesMet(listener, route);
  const end = respondsAt(policies, method, headers);
  const met = chainVerdicts(policies.slice(0, end), { data, open, present: [] }, identities);
  const responding = end === undefined ? undefined : policies[end];
  const isRefused = met.at(-1)?.verdict === "refuses";
  const verdicts =
    responding === undefined || isRefused ? met : [...met, preflightVerdict(responding, headers)];
  return { kind: "route", access: { route, listener, verdicts } };
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
