import { isMap, isScalar } from "yaml";
import type { SourceFile } from "../diagnostics/source.ts";

/** A file that was written for another tool. */
export interface OtherFile {
  /** Description of the file: `a configuration of Envoy`. */
  readonly what: string;
  /** Hint for the user; `undefined` if only a file of gwc helps. */
  readonly advice?: string;
  /** Whether `gwc import` reads it. */
  readonly isImported?: boolean;
}

/**
 * Recognizes files of other tools by their first keys or, if they are not YAML mappings, by their words; `undefined`
 * for gwc's own files.
 */
export function otherTool({ text, documents }: SourceFile): OtherFile | undefined {
  const contents = documents[0]?.yaml.contents;
  if (!isMap(contents) || documents[0]?.yaml.errors.length !== 0)
    return BY_WORDS.find(({ words }) => words.test(text));
  const keys = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  if (keys.some((key) => OWN_KEYS.includes(key))) return undefined;
  return BY_KEYS.find(({ wanted }) =>
    wanted.every((group) => group.some((key) => keys.includes(key))),
  );
}

/** Keys that only files of gwc, or manifests, begin with. */
const OWN_KEYS: readonly string[] = [
  "gateways",
  "binds",
  "llm",
  "mcp",
  "frontendPolicies",
  "apiVersion",
];

/** Files by their keys: of each group in `wanted`, one key is present. */
const BY_KEYS: readonly (OtherFile & { readonly wanted: readonly (readonly string[])[] })[] = [
  {
    what: "a configuration of Envoy",
    wanted: [["static_resources", "dynamic_resources", "layered_runtime"]],
  },
  {
    what: "a client's list of MCP servers",
    advice: "add each server to `targets` of an `mcp` backend, under `stdio` or `mcp`",
    wanted: [["mcpServers"]],
  },
  {
    what: "a configuration of LiteLLM",
    isImported: true,
    wanted: [["model_list", "litellm_settings", "router_settings"]],
  },
  { what: "a configuration of Kong", isImported: true, wanted: [["_format_version"]] },
  {
    what: "a configuration of Traefik",
    isImported: true,
    wanted: [["entryPoints", "http", "tcp", "udp", "certificatesResolvers"]],
  },
  { what: "a configuration of Envoy's rate limit service", wanted: [["domain"], ["descriptors"]] },
  { what: "an OpenAPI document", wanted: [["openapi", "swagger"]] },
  { what: "a configuration of Caddy", isImported: true, wanted: [["apps"]] },
  { what: "a file of Docker Compose", wanted: [["services"]] },
  {
    what: "a Kubernetes manifest without its kind",
    advice: "add `apiVersion` and `kind`",
    wanted: [
      ["kind", "metadata", "spec"],
      ["metadata", "spec"],
    ],
  },
];

const BY_WORDS: readonly (OtherFile & { readonly words: RegExp })[] = [
  {
    what: "a configuration of nginx",
    isImported: true,
    words: /^\s*(?:server|http|events|upstream\s+\S+|location\s+\S.*)\s*\{/m,
  },
  {
    what: "a configuration of Caddy",
    isImported: true,
    words: /^\s*(?:reverse_proxy|file_server|php_fastcgi|handle_path|encode)\b/m,
  },
  { what: "a configuration of Traefik", words: /^\[(?:entryPoints|http\.|tcp\.|providers)/m },
  { what: "a configuration of HAProxy", words: /^(?:frontend|backend|listen)\s+\S+\s*$/m },
  { what: "a configuration of Apache", words: /^\s*<(?:VirtualHost|Location|Directory)\b/m },
];
