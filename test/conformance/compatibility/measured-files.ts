import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments, stringify } from "yaml";
import { DOCUMENTS } from "../../../compiler/backends/mcp/openapi-copy.ts";
import { type Host, memoryHost, realHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";
import { root } from "../../harness/root.ts";
import { completedSnippets, isOfClients, withoutPlaceholders } from "./completed-snippets.ts";

/** A configuration of another project, and the errors that gwc reports for it. */
export interface MeasuredFile {
  /** Path below the measured folder; for a snippet of a document with the number of its first line. */
  readonly name: string;
  readonly kind: "standalone" | "manifest";
  /** `CODE: MESSAGE` of each error; empty if the file is accepted. */
  readonly errors: readonly string[];
}

const FETCHED = JSON.stringify({
  openapi: "3.0.0",
  paths: { "/a": { get: { operationId: "a" } } },
});
/** Top-level fields of which a standalone file has at least one. */
const STANDALONE = new Set(["binds", "gateways", "llm", "mcp", "routes", "tcpRoutes"]);
const OWN_GROUP = /^apiVersion:\s*["']?(gateway\.networking\.k8s\.io|agentgateway\.dev)\//m;
const FENCE = /^([ \t]*)```[^\n]*\n([\s\S]*?)^[ \t]*```/gm;
const HEREDOC = /<<-?\s*["']?(\w+)["']?[^\n]*\n([\s\S]*?)^\s*\1\s*$/m;

/** Files that readers of a document create, by the end of their names: contents that are valid there. */
const CREATED: readonly (readonly [name: RegExp, content: string])[] = [
  [/openapi\.json$/, FETCHED],
  [
    /(pub-?key|public-key\.json)$/,
    readFileSync(path.join(root, "examples/authorization/jwks.json"), "utf8"),
  ],
  [/catalog\.json$/, JSON.stringify({ providers: {} })],
];

/** Part of a folder that is measured, and a checkout of agentgateway with files that configurations refer to. */
interface MeasuredPlace {
  readonly inside?: string;
  readonly checkout?: string | undefined;
}

/**
 * Checks every standalone file and manifest below a folder, and those in the fences of its Markdown documents. Only the
 * part below `inside` is measured, but files that configurations refer to may be anywhere in the folder or checkout.
 */
export function measureFolder(
  folder: string,
  { inside = ".", checkout = folder }: MeasuredPlace = {},
): readonly MeasuredFile[] {
  const variables = new Proxy({}, { get: (_, name) => variableValue(String(name)) });
  const host = hostOf([folder, checkout], realHost(variables));
  return filesOf(path.join(folder, inside)).flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const name = path.relative(folder, file);
    if (/\.ya?ml$/.test(file)) return measured(name, text, file, host);
    const inFolder = path.join(path.dirname(file), "config.yaml");
    // Parts of manifests have fields of the same names.
    const hasFragments =
      !OWN_GROUP.test(text.replaceAll(/^[ \t]+/gm, "")) && !text.includes("kubectl");
    return snippetsOf(text).flatMap(({ line, yaml }) => {
      const snippet = withoutPlaceholders(yaml);
      const texts = hasFragments ? wholeTexts(snippet) : [snippet];
      const results = texts.flatMap((each) =>
        measured(`${name}:${line}`, each, inFolder, withFile(each, inFolder, host)),
      );
      // A fragment is accepted if one of the files that it may be part of is.
      const accepted = results.find(({ errors }) => errors.length === 0);
      return [accepted ?? results.slice(0, 1)].flat();
    });
  });
}

/** Returns a snippet as it is if it is whole, and else as the files that it may be part of. */
function wholeTexts(snippet: string): readonly string[] {
  const value = kindless(snippet) ? firstDocument(snippet) : undefined;
  const files = completedSnippets(value);
  return kindOf(snippet) === undefined || files.some((each) => !isDeepStrictEqual(each, value))
    ? files.map((each) => stringify(each))
    : [snippet];
}

/** Reads the snippet itself, files next to it, and those that readers of a document create. */
function withFile(yaml: string, inFolder: string, host: Host): Host {
  const snippet = memoryHost({ "config.yaml": yaml });
  return {
    ...snippet,
    variable: host.variable,
    readText: (asked) => {
      if (asked === inFolder) return snippet.readText("config.yaml");
      const read = host.readText(asked);
      const [, text] = CREATED.find(([name]) => name.test(asked)) ?? [];
      return read.kind === "text" || text === undefined ? read : { kind: "text", text };
    },
  };
}

/** Returns a value for a variable that has the form which its name suggests. */
function variableValue(name: string): string {
  const value = `value-of-${name.toLowerCase().replaceAll("_", "-")}`;
  return /(URL|ISSUER|ENDPOINT)$/.test(name) ? `https://${value}.example` : value;
}

/**
 * Reads files that are missing in the folder of their configuration from the roots, as agentgateway does if it starts
 * there.
 */
function hostOf([root, ...others]: readonly [string, ...string[]], host: Host): Host {
  return {
    ...host,
    readText: (file) => {
      // Documents that `gwc lock` fetches.
      if (file.includes(`${DOCUMENTS}/`)) return { kind: "text", text: FETCHED };
      const read = host.readText(file);
      if (read.kind === "text") return read;
      const parts = path.relative(root, path.resolve(file)).split(path.sep);
      const atRoots = [root, ...others].flatMap((each) =>
        parts.map((_, index) => path.join(each, ...parts.slice(index))),
      );
      return atRoots.map((each) => host.readText(each)).find(({ kind }) => kind === "text") ?? read;
    },
  };
}

function measured(name: string, text: string, file: string, host: Host): readonly MeasuredFile[] {
  const kind = kindOf(text);
  if (kind === undefined) return [];
  const { findings } = checkInput([file], host, false, undefined, { isDelivered: true });
  const errors = findings
    .filter(({ severity }) => severity === "error")
    .map(({ code, message }) => `${code}: ${message}`);
  return [{ name, kind, errors }];
}

function kindOf(text: string): MeasuredFile["kind"] | undefined {
  if (OWN_GROUP.test(text)) return "manifest";
  const value = kindless(text) ? firstDocument(text) : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // Clients of MCP name their own schema, and call their servers `mcp`, too.
  const isOther =
    ("$schema" in value && !String(value.$schema).includes("agentgateway")) || isOfClients(value);
  const isOwn = Object.keys(value).some((key) => STANDALONE.has(key));
  return isOwn && !isOther ? "standalone" : undefined;
}

/** Whether a document is no resource of Kubernetes. */
function kindless(text: string): boolean {
  return !/^kind:/m.test(text);
}

/** Returns the contents of the first document of YAML; `undefined` if there is no document. */
function firstDocument(text: string): unknown {
  const [document] = parseAllDocuments(text, { logLevel: "silent", uniqueKeys: false });
  return document?.errors.length === 0 ? document.toJS() : undefined;
}

/** Returns the YAML of the fences of a document, without the indentation of its list item. */
function snippetsOf(markdown: string): readonly { readonly line: number; readonly yaml: string }[] {
  return [...markdown.matchAll(FENCE)].map(({ index, 1: indent = "", 2: body = "" }) => {
    const plain = body.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const [, , document = plain] = HEREDOC.exec(plain) ?? [];
    return { line: markdown.slice(0, index).split("\n").length + 1, yaml: document };
  });
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name !== ".git" && name !== "node_modules")
    .map((name) => path.join(folder, name))
    .flatMap((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat?.isDirectory() === true ? filesOf(file) : stat?.isFile() === true ? [file] : [];
    })
    .filter((file) => /\.(ya?ml|md)$/.test(file))
    .toSorted();
}
