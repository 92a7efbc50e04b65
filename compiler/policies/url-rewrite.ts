import { checkLiteral } from "../backends/parts/literal-templates.ts";
import { preciseHostname } from "../manifests/field-types.ts";
import { type Infer, object } from "../schema/schema.ts";
import type { HostMode } from "./host-rewrite.ts";
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

/** A new Host header: complete, a part of one, or a mode of `hostRewrite`. */
export type AuthorityChange =
  | { readonly kind: "full"; readonly value: string }
  | { readonly kind: "host"; readonly value: string }
  | { readonly kind: "port"; readonly value: number }
  | { readonly kind: "mode"; readonly value: HostMode };

/** `urlRewrite` as configured. */
interface UrlRewriteConfig {
  readonly authority: AuthorityChange | undefined;
  readonly path: PathModifierConfig | undefined;
}

/** `urlRewrite` resolved. */
interface UrlRewriteNode {
  readonly authority: AuthorityChange | undefined;
  readonly path: PathModifierNode | undefined;
}

const schema = object(
  {
    authority: authoritySchema(
      ["auto", "none"],
      "Host header that the backend sees: `{full: HOST:PORT}`, `{host: HOST}`, `{port: PORT}`, `auto` (its own name) " +
        "or `none` (the client's).",
    ),
    path: pathModifierSchema,
  },
  {
    atLeastOneOf: ["authority", "path"],
    description: "Changes the Host header and path that the backend sees.",
    examples: [{ path: { prefix: "/v2" } }],
  },
);

/** Schema of Gateway API's `HTTPURLRewriteFilter`. */
const kubernetesSchema = object({ hostname: preciseHostname, path: kubernetesPathModifierSchema });

/** Changes the Host header and path that the backend sees (Gateway API URLRewrite). */
export const urlRewrite: Policy<
  "urlRewrite",
  UrlRewriteConfig,
  UrlRewriteNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "urlRewrite",
  summary:
    "changes the Host header and path that the backend sees, completely or in parts (host, port, matched prefix)",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["forwards", "passedCalls"],
    isOptional: true,
  },
  lowering: {
    merge: "replace",
    lower: ({ authority, path }) => ({
      authority: lowerAuthority(authority),
      path: lowerPathModifier(path),
    }),
    resolve: ({ authority, path }, context) => {
      checkLiteral(authority?.value, "host", context.origin, context.diagnostics);
      if (path === undefined) return { authority, path };
      const change = resolvePathModifier(path, context.origin, context);
      return change === undefined ? undefined : { authority, path: change };
    },
  },
  kubernetes: {
    field: "filter.urlRewrite",
    filter: "urlRewrite",
    schema: kubernetesSchema,
    lower: ({ hostname, path }) => ({
      authority: hostname === undefined ? undefined : { kind: "full", value: hostname },
      path: lowerKubernetesPathModifier(path),
    }),
  },
};

/** Reads `authority`. */
export function lowerAuthority(value: AuthorityValue | undefined): AuthorityChange | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return { kind: "mode", value: value === "auto" ? "Auto" : "None" };
  const { full, host, port = 0 } = value;
  if (full !== undefined) return { kind: "full", value: full.toLowerCase() };
  if (host !== undefined) return { kind: "host", value: host.toLowerCase() };
  return { kind: "port", value: port };
}
