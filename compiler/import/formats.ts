import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host.ts";
import { importCaddyfile } from "./caddy/caddy.ts";
import { importCaddyJson } from "./caddy/caddy-json.ts";
import { importEnvoyAi } from "./envoy/envoy-ai.ts";
import type { ImportDraft, ReadImport } from "./imported-text.ts";
import { importKong } from "./kong/kong.ts";
import { importLiteLlm } from "./litellm/litellm.ts";
import { importNginx } from "./nginx/nginx.ts";
import { fieldsIn } from "./proxy/fields.ts";
import { fieldParts, SourceFields } from "./source-fields.ts";
import { importTraefik } from "./traefik/traefik.ts";

/** Supported source formats. */
export const IMPORT_FORMATS = [
  "agentgateway",
  "litellm",
  "nginx",
  "caddy",
  "caddy-json",
  "traefik",
  "kong",
  "envoy-ai-gateway",
] as const;

/** The format of a configuration. */
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A file to import. */
export interface ImportFile {
  readonly file: string;
  readonly text: string;
}

/** Converts the files of one configuration; returns the reason as a string if that is impossible. */
type Importer = (files: readonly ImportFile[], host: Host) => ReadImport | string;

/** Importer of each format; agentgateway files need no conversion. */
export const importers: Readonly<Record<Exclude<ImportFormat, "agentgateway">, Importer>> = {
  litellm: ofFields(([source]) => (source === undefined ? "is missing" : importLiteLlm(source))),
  caddy: ([{ file, text } = NO_FILE], host) => importCaddyfile(file, text, host),
  "caddy-json": ofFields(([source]) =>
    source === undefined ? "is missing" : importCaddyJson(source),
  ),
  traefik: ofFields(importTraefik),
  kong: ofFields(([source]) => (source === undefined ? "is missing" : importKong(source))),
  "envoy-ai-gateway": ofFields(importEnvoyAi),
  nginx: ([{ file, text } = NO_FILE], host) => importNginx(file, text, host),
};

const NO_FILE: ImportFile = { file: "", text: "" };

/** Wraps a reader of YAML or JSON fields as an importer. */
function ofFields(read: (sources: readonly SourceFields[]) => ImportDraft | string): Importer {
  return (files) => {
    const sources = files.map(({ text }) => new SourceFields(text));
    const wrong = sources.findIndex(({ problem }) => problem !== undefined);
    if (wrong >= 0) return `is not YAML: ${files[wrong]?.file}: ${sources[wrong]?.problem}`;
    const draft = read(sources);
    if (typeof draft === "string") return draft;
    const result = JSON.stringify(draft);
    const isOne = files.length === 1;
    const fileOf = (at: number) => (isOne ? "" : (files[at]?.file ?? ""));
    const left = sources.flatMap((each, at) => fieldParts(each.left(), fileOf(at)));
    const idle = sources.flatMap((each, at) => {
      const isSame = (path: ConfigPath) =>
        JSON.stringify(read(sources.with(at, each.without(path)))) === result;
      return fieldParts(
        each.settings().filter(({ path }) => isSame(path)),
        fileOf(at),
      );
    });
    return { draft, left, idle };
  };
}

/** Detects the format of files by their names and contents. */
export function formatOf(files: readonly ImportFile[]): ImportFormat {
  const [{ file, text } = NO_FILE] = files;
  if (/(^|[/\\])Caddyfile[^/\\]*$|\.caddy(file)?$/i.test(file)) return "caddy";
  const { value } = new SourceFields(text);
  if (typeof value === "object" && value !== null) {
    if ("model_list" in value) return "litellm";
    if (
      /^\s*apiVersion:\s*["']?(ai)?gateway\.envoyproxy\.io\//m.test(
        files.map((each) => each.text).join("\n"),
      )
    )
      return "envoy-ai-gateway";
    if ("_format_version" in value) return "kong";
    if ("apps" in value) return "caddy-json";
    const isTraefik = files.some(({ text: each }) => {
      const { http, entryPoints } = fieldsIn(new SourceFields(each).value);
      return entryPoints !== undefined || fieldsIn(http).routers !== undefined;
    });
    if (isTraefik) return "traefik";
    return "agentgateway";
  }
  return /^\s*(http|server|upstream|events)\b[^;{]*\{/m.test(text) ? "nginx" : "agentgateway";
}
