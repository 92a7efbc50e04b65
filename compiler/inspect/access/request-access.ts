import type { Checked } from "../../compile.ts";
import { policiesMet } from "../../ir/access.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { reachedRoute } from "../explain/request.ts";
import { chainVerdicts } from "./chain-verdicts.ts";
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
  const { route, listener } = reached;
  const data = {
    request: {
      method,
      scheme: url.protocol.slice(0, -1),
      host: url.host,
      path: url.pathname,
      pathAndQuery: `${url.pathname}${url.search}`,
      headers: { host: url.host, ...headers },
    },
    source: { address },
  };
  const open: readonly DataPath[] = [
    ...ALWAYS_OPEN,
    ...(identities.isAnyone ? [["source"], ["request", "headers"]] : []),
    ...(address === undefined ? [["source", "address"]] : []),
  ];
  const policies = policiesMet(listener, route);
  const verdicts = chainVerdicts(policies, { data, open, present: [] }, identities);
  return { kind: "route", access: { route, listener, verdicts } };
}
