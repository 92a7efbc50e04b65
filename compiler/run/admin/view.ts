import type { RouteCount } from "../../../runtime/gateway/gateway.ts";
import type { Compiled } from "../candidate.ts";
import type { LastChange } from "../live-gateway.ts";

/** What the admin page may see of a live gateway. */
export interface LiveView {
  /** The configuration's path, as the user named it. */
  readonly file: string;
  readonly current: Compiled;
  /** Since when that is served. */
  readonly servedSince: Date;
  readonly lastChange: LastChange;
  /** What each route has answered so far. */
  routes(): readonly RouteCount[];
}
