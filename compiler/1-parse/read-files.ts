import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar } from "yaml";
import { CachedResults } from "../cached-results.ts";
import { type Diagnostic, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import type { ReusableValidator } from "../schema/validate.ts";
import { parseYaml, readDocuments } from "./documents.ts";
import { isEmpty, isSchema, isStandalone } from "./input-files.ts";
import { CachedManifestReads, type ReadDocument } from "./kubernetes/manifests.ts";
import type { StandaloneFile } from "./standalone/standalone.ts";
import { plainValue } from "./values.ts";

/** A file that was read. */
export interface ReadFile {
  readonly source: SourceFile;
  /** Mistakes in its YAML. */
  readonly found: readonly Diagnostic[];
  /** Whether its content is unknown, so that nothing in it is checked. */
  readonly isBroken: boolean;
  /** Form of each of its documents. */
  readonly forms: readonly DocumentForm[];
  /** Returns its documents as data. */
  readonly plain: () => readonly ReadDocument[];
}

/** Form of a document, by its keys. */
export type DocumentForm = "empty" | "schema" | "manifest" | "standalone" | "other";

/** Cached results of reading an input: unchanged files are neither read nor validated again. */
export class CachedInput {
  /** Whether YAML nodes are cached too, for a reader that locates places after every change. */
  readonly hasNodes: boolean;
  readonly files = new CachedResults<ReadFile>();
  /** Parsed texts, if nodes are cached: readers that name a file differently share them. */
  readonly yaml = new CachedResults<readonly Document[]>();
  readonly manifests = new CachedManifestReads();
  /** Schema of standalone files, as soon as one is read. */
  standalone: ReusableValidator<StandaloneFile> | undefined;

  constructor({ hasNodes = false }: { readonly hasNodes?: boolean } = {}) {
    this.hasNodes = hasNodes;
  }

  /** Returns the YAML of a text. */
  yamlOf(file: string, text: string): readonly Document[] {
    return this.hasNodes ? this.yaml.of(file, text, () => parseYaml(text)) : parseYaml(text);
  }

  /** Marks the end of a compilation: files that it did not read are dropped. */
  turn(): void {
    this.files.turn();
    this.yaml.turn();
  }
}

/** Reads files and reports those that cannot be read. `cached` holds the results of unchanged files. */
export function readFiles(
  paths: readonly string[],
  host: Host,
  diagnostics: Diagnostics,
  cached: CachedInput | undefined,
): readonly ReadFile[] {
  const names = stableNames(paths);
  return paths.flatMap((file, index) => {
    const text = host.readText(file);
    if (text.kind === "text") {
      const name = names[index] ?? file;
      const read = () =>
        text.isDamaged
          ? damaged(name, file, text.text)
          : readOne(name, file, text.text, cached?.yamlOf(file, text.text));
      const one =
        cached?.files.of(`${name}\n${file}`, text.text, (before) =>
          cached.hasNodes ? withData(read(), before) : withoutNodes(read()),
        ) ?? read();
      // A file of another tool is reported as such, rather than by its first YAML mistake.
      if (one.found.length > 0 && !reportOtherTool(one.source, diagnostics))
        for (const each of one.found) diagnostics.add(each);
      return [one];
    }
    const at = { file, document: 0, path: [], part: "file" } as const;
    diagnostics.report("file-not-found", at, { file, problem: text.problem });
    return [];
  });
}

/** Returns the documents of a file as data. */
function plainDocuments({ name, documents }: SourceFile): readonly ReadDocument[] {
  return documents.map((document, index) => ({
    value: plainValue(document),
    origin: { file: name, document: index, path: [] },
  }));
}

/** Reports a file that was written for another tool; returns whether it was. */
export function reportOtherTool(file: SourceFile, diagnostics: Diagnostics): boolean {
  const other = otherTool(file);
  if (other === undefined) return false;
  const at = { file: file.name, document: 0, path: [], part: "file" } as const;
  const { what, isImported, advice } = other;
  const importing = isImported && `convert it with \`gwc import ${file.name}\``;
  diagnostics.report("other-tool", at, { what, advice: importing || advice });
  return true;
}

const READABLE: ReadonlySet<string> = new Set(["duplicate-key", "earlier-form"]);

function readOne(
  name: string,
  file: string,
  text: string,
  parsed: readonly Document[] | undefined,
): ReadFile {
  const found = new Diagnostics();
  const source = readDocuments(name, file, text, found, parsed);
  const forms = source.documents.map(formOf);
  // After a repeated key, or a field in an earlier form, the rest of the file can still be read.
  const isBroken = found.list.some(({ code }) => !READABLE.has(code));
  return { source, found: found.list, isBroken, forms, plain: () => plainDocuments(source) };
}

/** Returns a file that is not valid UTF-8, without parsing its YAML. */
function damaged(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  const start = text.indexOf("\uFFFD");
  const at = { file: name, document: 0, path: [], offsets: [start, start + 1] } as const;
  found.report("not-utf8", at, {});
  const source = { name, path: file, text, documents: [], data: [] };
  return { source, found: found.list, isBroken: true, forms: [], plain: () => [] };
}

/**
 * Returns the file with its documents as the same objects each time, by which results are cached: those that did not
 * change are the objects of the file before its last change.
 */
function withData({ source, ...file }: ReadFile, before: ReadFile | undefined): ReadFile {
  const known = before?.plain() ?? [];
  const documents = file.isBroken ? [] : plainDocuments(source);
  const same = documents.map((document, index) => {
    const old = known[index];
    return old !== undefined && isDeepStrictEqual(old, document) ? old : document;
  });
  return { ...file, source, plain: () => same };
}

/**
 * Returns the file with its data but without YAML nodes, which take many times the memory; they are parsed again when
 * needed.
 */
function withoutNodes({ source, found, isBroken, forms }: ReadFile): ReadFile {
  const documents = isBroken ? [] : plainDocuments(source);
  const lean = parsedAgain(
    source,
    documents.map(({ value }) => value),
  );
  return { source: lean, found, isBroken, forms, plain: () => documents };
}

/** Returns files without YAML nodes, for phases that need places of them rarely or never. */
export function withoutDocuments(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.map((file) => (file.documents.length === 0 ? file : parsedAgain(file, file.data)));
}

/** Returns a file whose documents are parsed again each time. */
function parsedAgain({ name, path: file, text }: SourceFile, data: SourceFile["data"]): SourceFile {
  return {
    ...{ name, path: file, text, data },
    get documents() {
      return readDocuments(name, file, text, new Diagnostics()).documents;
    },
  };
}

function formOf(document: SourceDocument): DocumentForm {
  if (isEmpty(document)) return "empty";
  if (isSchema(document)) return "schema";
  const { contents } = document.yaml;
  if (isMap(contents) && contents.has("apiVersion") && contents.has("kind")) return "manifest";
  return isStandalone(document) ? "standalone" : "other";
}

/**
 * Returns names of the inputs for generated code: relative to their common folder, so that they reveal nothing about
 * the machine.
 */
function stableNames(paths: readonly string[]): string[] {
  const absolute = paths.map((file) => path.resolve(file === "-" ? "stdin" : file).split(path.sep));
  const folders = absolute.map((steps) => steps.slice(0, -1));
  const [first = []] = folders;
  let common = 0;
  while (common < first.length && folders.every((steps) => steps[common] === first[common]))
    common++;
  return absolute.map((steps) => steps.slice(common).join("/"));
}

/** A file that was written for another tool. */
interface OtherFile {
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
function otherTool({ text, documents }: SourceFile): OtherFile | undefined {
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
