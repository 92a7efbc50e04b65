import { stringify } from "yaml";
import { isJsonObject } from "../../../runtime/json/json-object.ts";

/** A JSON object of unknown shape. */
export type DraftFields = Readonly<Record<string, unknown>>;

/** Conditions for a request to match a route. */
export interface DraftMatch {
  readonly path?: {
    /** A prefix matches whole segments. */
    readonly kind: "exact" | "prefix" | "regex";
    readonly value: string;
  };
  readonly method?: string;
  readonly headers?: readonly DraftValue[];
  readonly query?: readonly DraftValue[];
}

/** A condition on a header or query parameter. */
export interface DraftValue {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
}

/** A route of another proxy, converted to gwc's terms. */
export interface RouteDraft {
  readonly name: string;
  readonly matches: readonly DraftMatch[];
  readonly policies: DraftFields;
  readonly backends: readonly DraftFields[];
  /** Decisions for the user. */
  readonly notes: readonly string[];
}

/** The routes of a set of hosts on a port. */
export interface SiteDraft {
  readonly port: number;
  readonly address?: string | undefined;
  /** Exact names, or wildcards such as `*.example.com`. */
  readonly hostnames: readonly string[];
  /** Whether the site also serves all other hosts. */
  readonly isDefault: boolean;
  readonly tls?: DraftFields | undefined;
  /** Whether client addresses come from the PROXY protocol. */
  readonly isProxied?: boolean;
  readonly routes: readonly RouteDraft[];
  readonly notes: readonly string[];
}

/** Creates a route that answers 503 until the user decides, so that its requests do not reach a wider route. */
export function closedRoute(
  name: string,
  matches: readonly DraftMatch[],
  reason: string,
): RouteDraft {
  const text = `this route answers 503 until you remove its directResponse: ${reason}`;
  return { name, matches, policies: { directResponse: CLOSED }, backends: [], notes: [text] };
}

/** Closes a route of which a part has no counterpart; its policies and backends move to a note. */
export function closed(
  { name, matches, policies, backends, notes }: RouteDraft,
  reason: string,
): RouteDraft {
  const route = closedRoute(name, matches, reason);
  const parts = Object.entries({ policies, backends }).filter(
    ([, part]) => Object.keys(part).length > 0,
  );
  const served = stringify(Object.fromEntries(parts), { collectionStyle: "flow", lineWidth: 0 });
  const rest = parts.length === 0 ? [] : [`without it, the route has: ${served.trim()}`];
  return { ...route, notes: [...notes, ...route.notes, ...rest] };
}

/** Response of a closed route. */
export const CLOSED = { status: 503, body: "A part of this route could not be imported." };

/** Whether a route is closed. */
export function isClosed({ policies }: RouteDraft): boolean {
  return policies.directResponse === CLOSED;
}

/** Headers that Caddy, Kong and Traefik add for servers. */
export const FORWARDED: DraftFields = {
  transformations: {
    request: {
      set: {
        "x-forwarded-for": "source.address",
        "x-forwarded-proto": "request.scheme",
        "x-forwarded-host": "request.host",
      },
    },
  },
};

/** Merges policies deeply; lists are concatenated. */
export function merged(some: DraftFields, others: DraftFields): DraftFields {
  const result: Record<string, unknown> = { ...some };
  for (const [key, value] of Object.entries(others)) {
    const own = result[key];
    if (Array.isArray(own) && Array.isArray(value)) result[key] = [...own, ...value];
    else if (isJsonObject(own) && isJsonObject(value)) result[key] = merged(own, value);
    else result[key] = value;
  }
  return result;
}
