import type { Exchange } from "../../http/exchange.ts";
import { hidesNothing, type McpAuthorization } from "../rules/authorization.ts";
import { updatesFilter } from "../rules/list-filter.ts";
import { isLockedOpening, openingFilter } from "../session/opening.ts";
import type { PassthroughRelayOptions } from "./passthrough-relay.ts";

/** A request as far as it decides what of its response is read. */
export interface FilteredRequest {
  readonly method: string | undefined;
  /** The response may hold a list. */
  readonly isList: boolean;
  /** Makes the filter of lists. */
  readonly listFilter: typeof updatesFilter;
}

/** What a client is shown of a response, and how it is read for that. `target`: its name. */
export function passedFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
  { method, isList, listFilter }: FilteredRequest,
): Pick<PassthroughRelayOptions, "filter" | "isList" | "readsRefusals"> {
  const isLocked = isLockedOpening(access, method);
  const otherFilter = isLocked ? openingFilter : updatesFilter;
  const filterOf = isList ? listFilter : otherFilter;
  return {
    filter: hidesNothing(access) ? undefined : filterOf(exchange, access, target),
    isList: isList || isLocked,
    readsRefusals: isLocked,
  };
}
