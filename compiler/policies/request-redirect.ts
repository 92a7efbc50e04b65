import { checkLiteral } from "../backends/parts/literal-templates.ts";
import { port, preciseHostname } from "../manifests/field-types.ts";
import { choice, type Infer, object, type Schema } from "../schema/schema.ts";
import {
  type AuthorityValue,
  authoritySchema,
  kubernetesPathModifierSchema,
  lowerKubernetesPathModifier,
  lowerPathModifier,
  type PathModifierConfig,
  type PathModifierNode,
  pathModifierSchema,
  resolvePathModifier,
} from "./parts/path-modifier.ts";
import type { Policy } from "./policy.ts";
import { lowerAuthority } from "./url-rewrite.ts";

/** Target of a redirect; `undefined` parts are those of the request. */
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

const redirectStatus: Schema<number> = {
  type: "integer",
  enum: [301, 302, 303, 307, 308],
  default: 302,
  description: "Status of the redirect.",
};

const schema = object(
  {
    scheme: choice("Scheme of the new URL.", ["http", "https"]),
    authority: authoritySchema(
      ["none"],
      "Host of the new URL: `{full: HOST:PORT}`, `{host: HOST}`, `{port: PORT}`, or `none` for that of the request.",
    ),
    path: pathModifierSchema,
    status: redirectStatus,
  },
  {
    atLeastOneOf: ["scheme", "authority", "path"],
    description: "Responds with a redirect, without a backend.",
    misplacedFieldHints: {
      hostname: "write authority: { host: NAME }",
      host: "write authority: { host: NAME }",
      port: "write authority: { port: NUMBER }",
      statusCode: "it is called `status` here",
      code: "it is called `status` here",
    },
  },
);

/** Schema of Gateway API's `HTTPRequestRedirectFilter`. */
const kubernetesSchema = object({
  scheme: choice("Scheme of the new URL.", ["http", "https"]),
  hostname: preciseHostname,
  path: kubernetesPathModifierSchema,
  port,
  statusCode: redirectStatus,
});

/** Redirects clients (Gateway API RequestRedirect, RFC 9110 15.4). */
export const requestRedirect: Policy<
  "requestRedirect",
  RequestRedirectConfig,
  RequestRedirectNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "requestRedirect",
  summary: "redirects to another scheme, host, port or path; the query is unchanged",
  scope: ["route"],
  traits: {
    actsOn: ["requests"],
    isTerminal: () => true,
    ends: () => [{ condition: undefined, isRefusal: false }],
  },
  schema,
  plannedOnBackend: {},
  names: ["location"],
  lowering: {
    merge: "replace",
    lower: ({ scheme, authority, path, status = 302 }) => ({
      scheme,
      ...hostAndPort(authority),
      path: lowerPathModifier(path),
      status,
    }),
    resolve: (config, context) => {
      checkLiteral(config.host, "host", context.origin, context.diagnostics);
      if (config.path === undefined) return { ...config, path: undefined };
      const path = resolvePathModifier(config.path, context.origin, context);
      return path === undefined ? undefined : { ...config, path };
    },
  },
  kubernetes: {
    field: "filter.requestRedirect",
    filter: "requestRedirect",
    schema: kubernetesSchema,
    lower: ({ scheme, hostname, port, path, statusCode = 302 }) => ({
      scheme,
      host: hostname,
      port,
      path: lowerKubernetesPathModifier(path),
      status: statusCode,
    }),
  },
};

function hostAndPort(value: AuthorityValue | undefined): Pick<RedirectTarget, "host" | "port"> {
  const authority = lowerAuthority(value);
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
