import type { Expression } from "../../templates/code/hole.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** A set of conditions that must all hold (Gateway API HTTPRouteMatch). */
export interface RouteMatch {
  readonly path: PathMatch;
  readonly method: string | undefined;
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
  /** Whether a policy added the match (the OAuth metadata of an MCP route) rather than the user. */
  readonly isDerived: boolean;
  /**
   * Matches of a route in a group: those of the delegating routes from the outermost on, then its own; `undefined`
   * outside of groups.
   */
  readonly ranks?: readonly MatchRank[];
  readonly origin: Origin;
}

/** Properties that determine the precedence of a match. */
export interface MatchRank {
  readonly path: { readonly kind: "exact" | "prefix" | "regex"; readonly value: string };
  readonly method: string | undefined;
  readonly headers: readonly unknown[];
  readonly query: readonly unknown[];
}

/** Describes a match: `path prefix /a, method GET, header x: y`. */
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

/** Condition on the path. */
export type PathMatch =
  | { readonly kind: "exact"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string }
  | { readonly kind: "regex"; readonly value: string; readonly test: Expression };

/** Condition on a header (lower-case name) or query parameter. */
export interface ValueMatch {
  readonly name: string;
  readonly value:
    | { readonly kind: "exact"; readonly value: string }
    | { readonly kind: "regex"; readonly value: string; readonly test: Expression };
}

/** Condition on a header or query parameter, as declared. */
export interface ValueMatchConfig {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
  /** Place of the value. */
  readonly origin: Origin;
}
