import type { ConfigValue } from "../1-parse/values.ts";
import { choice, object } from "../schema/schema.ts";
import {
  authoritySchema,
  type PathModifierConfig,
  type PathModifierNode,
  pathModifierSchema,
  readKubernetesPathModifier,
  readPathModifier,
  resolvePathModifier,
} from "./parts/path-modifier.ts";
import type { Policy } from "./policy.ts";
import { readAuthority } from "./url-rewrite.ts";

/** Where a redirect leads; undefined: as in the request. */
export interface RedirectTarget {
  readonly scheme: "http" | "https" | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly status: number;
}

/** `requestRedirect` as configured. */
type RequestRedirectConfig = RedirectTarget & { readonly path: PathModifierConfig | undefined };

/** `requestRedirect` resolved. */
type RequestRedirectNode = RedirectTarget & { readonly path: PathModifierNode | undefined };

/** Sends clients elsewhere (Gateway API RequestRedirect, RFC 9110 15.4). */
export const requestRedirect: Policy<
  "requestRedirect",
  RequestRedirectConfig,
  RequestRedirectNode
> = {
  kind: "requestRedirect",
  summary: "answers with a redirect: another scheme, host, port or path; the query stays",
  scope: ["route"],
  responses: () => true,
  schema: object(
    {
      scheme: choice("The scheme of the new URL.", ["http", "https"]),
      authority: authoritySchema(
        ["none"],
        "`{full: HOST:PORT}`, `{host: HOST}`, `{port: PORT}`, or `none`: as in the request.",
      ),
      path: pathModifierSchema,
      status: {
        type: "integer",
        enum: [301, 302, 303, 307, 308],
        default: 302,
        description: "The status.",
      },
    },
    {
      atLeastOneOf: ["scheme", "authority", "path"],
      description: "Responses with a redirect. The route needs no backend.",
    },
  ),
  isPlannedOnBackend: true,
  names: ["location"],
  merge: "replace",
  read: (value) => {
    const given = value as {
      readonly scheme?: "http" | "https";
      readonly authority?: string | Readonly<Record<string, string | number>>;
      readonly path?: Readonly<Record<string, string>>;
      readonly status?: number;
    };
    return {
      scheme: given.scheme,
      ...readHostAndPort(given.authority),
      path: readPathModifier(given.path),
      status: given.status ?? 302,
    };
  },
  kubernetes: {
    field: "filter.requestRedirect",
    filter: "requestRedirect",
    read: (value) => {
      const given = value as {
        readonly scheme?: "http" | "https";
        readonly hostname?: string;
        readonly port?: number;
        readonly path?: ConfigValue;
        readonly statusCode?: number;
      };
      return {
        scheme: given.scheme,
        host: given.hostname,
        port: given.port,
        path: readKubernetesPathModifier(given.path),
        status: given.statusCode ?? 302,
      };
    },
  },
  resolve: (config, context) => {
    if (config.path === undefined) return { ...config, path: undefined };
    const path = resolvePathModifier(config.path, context.origin, context);
    return path === undefined ? undefined : { ...config, path };
  },
};

function readHostAndPort(
  value: string | Readonly<Record<string, string | number>> | undefined,
): Pick<RedirectTarget, "host" | "port"> {
  const authority = readAuthority(value);
  switch (authority?.kind) {
    case "full": {
      const [, host = "", port] = /^(.*?)(?::([0-9]+))?$/.exec(authority.value) ?? [];
      return { host, port: port === undefined ? undefined : Number(port) };
    }
    case "host":
      return { host: authority.value, port: undefined };
    case "port":
      return { host: undefined, port: authority.value };
    default:
      return { host: undefined, port: undefined };
  }
}
