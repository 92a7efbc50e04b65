import path from "node:path";
import {
  DEFAULT_FILES,
  inputFiles,
  isLock,
  isStandalone,
  isTestFile,
} from "../1-parse/input-files.ts";
import { kinds, splitApiVersion } from "../1-parse/kubernetes/kinds.ts";
import { type CachedInput, readFiles } from "../1-parse/read-files.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { SourceDocument } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";

/** Use of an editor's document by gwc. */
export type DocumentUse =
  /** A part of a configuration: `files` are what `gwc check` would be given. */
  | { readonly kind: "configuration"; readonly files: readonly string[] }
  /** A test file, and the configuration next to it. */
  | { readonly kind: "tests"; readonly files: readonly string[] | undefined };

/** Inputs that the user configured: each a file, or a folder of manifests. */
export type ConfiguredInputs = readonly string[];

/**
 * Finds what a document belongs to: the configured input that contains it, else a standalone file by its keys, else the
 * folder of a manifest. Returns `undefined` if its contents say nothing.
 */
export function useOf(
  file: string,
  host: Host,
  configured: ConfiguredInputs,
  cached: CachedInput,
): DocumentUse | undefined {
  if (isTestFile(file)) return { kind: "tests", files: inputNextTo(file, host, configured) };
  if (isLock(file)) return undefined;
  const given = configured.find((input) => isInside(file, input));
  if (given !== undefined) return { kind: "configuration", files: [given] };
  const documents = documentsOf([file], host, cached);
  if (documents.some(isStandalone)) return { kind: "configuration", files: [file] };
  const folder = path.dirname(file);
  const isPart = documents.some(isManifest) && isGatewayFolder(folder, host, cached);
  return isPart ? { kind: "configuration", files: [folder] } : undefined;
}

/** Returns what a document is by its name alone: a standalone file has one of the default names. */
export function useByName(file: string): DocumentUse | undefined {
  const isDefault = DEFAULT_FILES.includes(path.basename(file));
  return isDefault ? { kind: "configuration", files: [file] } : undefined;
}

/** Returns the configuration that a test file is about: the one in its folder. */
function inputNextTo(
  file: string,
  host: Host,
  configured: ConfiguredInputs,
): readonly string[] | undefined {
  const folder = path.dirname(file);
  const given = configured.find((input) => isInside(file, input) || path.dirname(input) === folder);
  if (given !== undefined) return [given];
  const standalone = DEFAULT_FILES.map((name) => path.join(folder, name)).find(
    (name) => host.readText(name).kind === "text",
  );
  if (standalone !== undefined) return [standalone];
  const others = inputFiles([folder], host);
  return others.length === 0 ? undefined : [folder];
}

/** Whether a folder has a manifest that only a gateway has: others do not make it a configuration of gwc. */
function isGatewayFolder(folder: string, host: Host, cached: CachedInput): boolean {
  const files = inputFiles([folder], host).map((each) => each.path);
  return files.some((file) => documentsOf([file], host, cached).some(isOfGateway));
}

function documentsOf(
  files: readonly string[],
  host: Host,
  cached: CachedInput,
): readonly SourceDocument[] {
  const read = readFiles(files, host, new Diagnostics(), cached);
  return read.flatMap(({ source }) => source.documents);
}

function isManifest(document: SourceDocument): boolean {
  return textOf(document, "kind") !== undefined && textOf(document, "apiVersion") !== undefined;
}

function isOfGateway(document: SourceDocument): boolean {
  const { group } = splitApiVersion(textOf(document, "apiVersion") ?? "");
  return kinds.some(({ groups }) => groups.includes(group) && !COMMON_GROUPS.has(group));
}

/** API groups that every cluster has. */
const COMMON_GROUPS: ReadonlySet<string> = new Set(["", "discovery.k8s.io"]);

function textOf({ yaml }: SourceDocument, key: string): string | undefined {
  const value: unknown = yaml.getIn([key]);
  return typeof value === "string" ? value : undefined;
}

/** Whether a file is an input or in the folder that is one. */
export function isInside(file: string, input: string): boolean {
  const below = path.relative(input, file);
  return below === "" || !(below.startsWith("..") || path.isAbsolute(below));
}
