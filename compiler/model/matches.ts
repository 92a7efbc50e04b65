import type { Expression } from "../../templates/code/hole.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** One set of conditions; all must hold (Gateway API HTTPRouteMatch). */
export interface RouteMatch {
  readonly path: PathMatch;
  readonly method: string | undefined;
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
  /** True for a match that a policy needs and the user did not write (the OAuth metadata of an MCP route). */
  readonly isDerived: boolean;
  /** Of a route of a group: the matches on the way to it, the outermost first and its own at the end; absent: its own. */
  readonly ranks?: readonly MatchRank[];
  readonly origin: Origin;
}

/** What says how specific a match is, and so which of two comes first. */
export interface MatchRank {
  readonly path: { readonly kind: "exact" | "prefix" | "regex"; readonly value: string };
  readonly method: string | undefined;
  readonly headers: readonly unknown[];
  readonly query: readonly unknown[];
}

/** `path prefix /a, method GET, header x: y` */
export function matchText({ path, method, headers, query }: RouteMatch): string {
  const paths = { exact: "path", prefix: "path prefix", regex: "path like" };
  const valueText = ({ name, value: each }: ValueMatch): string =>
    `${name} ${each.kind === "exact" ? "=" : "~"} ${each.value}`;
  return [
    `${paths[path.kind]} ${path.value}`,
    ...(method === undefined ? [] : [`method ${method}`]),
    ...headers.map((each) => `header ${valueText(each)}`),
    ...query.map((each) => `query ${valueText(each)}`),
  ].join(", ");
}

/** What the path must be. */
export type PathMatch =
  | { readonly kind: "exact"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string }
  | { readonly kind: "regex"; readonly value: string; readonly test: Expression };

/** A header (lower-case name) or query parameter, and what its value must be. */
export interface ValueMatch {
  readonly name: string;
  readonly value:
    | { readonly kind: "exact"; readonly value: string }
    | { readonly kind: "regex"; readonly value: string; readonly test: Expression };
}

/** What a header or query parameter must be, as declared. */
export interface ValueMatchConfig {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
  /** Where the value stands. */
  readonly origin: Origin;
}
