import type { ConfigValue } from "../1-parse/values.ts";
import { object } from "../schema/schema.ts";
import type { HostMode } from "./host-rewrite.ts";
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

/** A new Host: a text, the parts of one, or a word of hostRewrite. */
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

/** The Host and path that the backend sees (Gateway API URLRewrite). */
export const urlRewrite: Policy<"urlRewrite", UrlRewriteConfig, UrlRewriteNode> = {
  kind: "urlRewrite",
  summary: "the Host and path that the backend sees: a new one, or the matched prefix replaced",
  scope: ["route"],
  schema: object(
    {
      authority: authoritySchema(
        ["auto", "none"],
        "The Host that the backend sees: `{full: HOST:PORT}`, `{host: HOST}`, `{port: PORT}`, `auto` (its own name) " +
          "or `none` (what the client sent).",
      ),
      path: pathModifierSchema,
    },
    {
      atLeastOneOf: ["authority", "path"],
      description: "The Host and path that the backend sees.",
    },
  ),
  protocol: "http",
  merge: "replace",
  read: (value) => {
    const given = value as {
      readonly authority?: string | Readonly<Record<string, string | number>>;
      readonly path?: Readonly<Record<string, string>>;
    };
    return { authority: readAuthority(given.authority), path: readPathModifier(given.path) };
  },
  kubernetes: {
    field: "filter.urlRewrite",
    filter: "urlRewrite",
    read: (value) => {
      const { hostname, path } = value as {
        readonly hostname?: string;
        readonly path?: ConfigValue;
      };
      return {
        authority: hostname === undefined ? undefined : { kind: "full", value: hostname },
        path: readKubernetesPathModifier(path),
      };
    },
  },
  resolve: ({ authority, path }, context) => {
    if (path === undefined) return { authority, path };
    const change = resolvePathModifier(path, context.origin, context);
    return change === undefined ? undefined : { authority, path: change };
  },
};

/** A validated `authority`. */
export function readAuthority(
  value: string | Readonly<Record<string, string | number>> | undefined,
): AuthorityChange | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return { kind: "mode", value: value === "auto" ? "Auto" : "None" };
  const { full, host, port } = value;
  if (full !== undefined) return { kind: "full", value: String(full).toLowerCase() };
  if (host !== undefined) return { kind: "host", value: String(host).toLowerCase() };
  return { kind: "port", value: Number(port) };
}
