import { stringify } from "yaml";

/** A JSON object of which nothing is known. */
export type DraftFields = Readonly<Record<string, unknown>>;

/** What a request must have to be a route's. */
export interface DraftMatch {
  readonly path?: {
    /** A prefix is one by whole segments. */
    readonly kind: "exact" | "prefix" | "regex";
    readonly value: string;
  };
  readonly method?: string;
  readonly headers?: readonly DraftValue[];
  readonly query?: readonly DraftValue[];
}

/** A header or a query parameter, and what it must be. */
export interface DraftValue {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
}

/** A route of another proxy, as gwc would write it. */
export interface RouteDraft {
  readonly name: string;
  readonly matches: readonly DraftMatch[];
  readonly policies: DraftFields;
  readonly backends: readonly DraftFields[];
  /** What somebody has to decide. */
  readonly notes: readonly string[];
}

/** The routes of some hosts on a port. */
export interface SiteDraft {
  readonly port: number;
  readonly address?: string | undefined;
  /** Exact, or with a first label `*`. */
  readonly hostnames: readonly string[];
  /** Whether it has the requests for all other hosts, too. */
  readonly isDefault: boolean;
  readonly tls?: DraftFields | undefined;
  /** Whether the address of a client comes by the PROXY protocol. */
  readonly isProxied?: boolean;
  readonly routes: readonly RouteDraft[];
  readonly notes: readonly string[];
}

/** A route that serves nobody until somebody has decided. Requests that were its never reach a wider one. */
export function closedRoute(
  name: string,
  matches: readonly DraftMatch[],
  reason: string,
): RouteDraft {
  const text = `this route answers 503 until its directResponse is taken out: ${reason}`;
  return { name, matches, policies: { directResponse: CLOSED }, backends: [], notes: [text] };
}

/** A route with no counterpart for a part of it: it serves nobody. A note has what it served with. */
export function closed(
  { name, matches, policies, backends, notes }: RouteDraft,
  reason: string,
): RouteDraft {
  const route = closedRoute(name, matches, reason);
  const parts = Object.entries({ policies, backends }).filter(
    ([, part]) => Object.keys(part).length > 0,
  );
  const served = stringify(Object.fromEntries(parts), { collectionStyle: "flow", lineWidth: 0 });
  const rest = parts.length === 0 ? [] : [`what it has in the place of that: ${served.trim()}`];
  return { ...route, notes: [...notes, ...route.notes, ...rest] };
}

/** What stands in the place of a route until somebody has decided. */
export const CLOSED = { status: 503, body: "This route has lost a part in its import." };

/** Whether a route serves nobody. */
export function isClosed({ policies }: RouteDraft): boolean {
  return policies.directResponse === CLOSED;
}
