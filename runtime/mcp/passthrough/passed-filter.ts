import type { Exchange } from "../../http/exchange.ts";
import { hidesNothing, type McpAuthorization } from "../rules/authorization.ts";
import { updatesFilter } from "../rules/list-filter.ts";
import { isLockedOpening, openingFilter } from "../session/opening.ts";
import type { PassthroughRelayOptions } from "./passthrough-relay.ts";

/** The parts of a request that decide how its response is filtered. */
export interface FilteredRequest {
  readonly method: string | undefined;
  /** Whether the response may contain a list. */
  readonly isList: boolean;
  /** Returns the filter of lists. */
  readonly listFilter: typeof updatesFilter;
}

/** Returns the filter of a response and how the response is read for it. `target`: its name. */
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
