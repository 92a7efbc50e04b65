import type { Origin } from "../diagnostics/diagnostic.ts";

/** Access to the admin page of `gwc run`. */
export interface AdminNode {
  /** Key with which people log in; absent if the page has no login. */
  readonly key?: { readonly kind: "path"; readonly file: string; readonly origin: Origin };
  /** Names of the page other than those of loopback, in lower case. */
  readonly hostnames: readonly string[];
  readonly origin: Origin;
}
