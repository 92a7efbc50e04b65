import path from "node:path";
import { type Document, isDocument, parseAllDocuments } from "yaml";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { Host } from "../../host.ts";
import { LOCK_ENTRY, type LockConfigMap } from "../../model/tool-lock.ts";

/** A ConfigMap in a file of manifests. */
export interface ConfigMapPlace extends LockConfigMap {
  /** The file that contains it, or to which it is written. */
  readonly file: string;
}

/**
 * Locates the ConfigMap of a lock: in the manifests, else in a file of its own in `folder`, which may already exist.
 */
export function configMapPlace(
  configMap: LockConfigMap,
  files: readonly SourceFile[],
  folder: string,
): ConfigMapPlace {
  const { namespace, name } = configMap;
  const own = files.find(({ documents }) =>
    documents.some(({ yaml }) => placeIn(yaml, namespace, name) !== undefined),
  );
  return { ...configMap, file: own?.path ?? path.join(folder, `${name}.configmap.yaml`) };
}

/** Returns the lock in a ConfigMap; `undefined` if it is missing. */
export function lockEntry(
  { namespace, name, file }: ConfigMapPlace,
  host: Host,
): string | undefined {
  const read = host.readText(file);
  if (read.kind !== "text") return undefined;
  const found = findConfigMap(read.text, namespace, name);
  const entry: unknown = found?.document.getIn([...found.at, "data", LOCK_ENTRY]);
  return typeof entry === "string" ? entry : undefined;
}

/** Returns the file's contents with the lock in its ConfigMap; `undefined` if the file is invalid. */
export function withLockEntry(
  { namespace, name, file }: ConfigMapPlace,
  lock: string,
  host: Host,
): string | undefined {
  const read = host.readText(file);
  const text = read.kind === "text" ? read.text : "";
  const found = findConfigMap(text, namespace, name);
  if (found === undefined) {
    const metadata = `metadata:\n  name: ${name}\n`;
    const where = namespace === "default" ? metadata : `${metadata}  namespace: ${namespace}\n`;
    const entry = lock.replace(/^(?=.)/gm, "    ");
    const before = text === "" ? "" : `${text.replace(/\n*$/, "\n")}---\n`;
    return `${before}apiVersion: v1\nkind: ConfigMap\n${where}data:\n  ${LOCK_ENTRY}: |\n${entry}`;
  }
  const { document, at, isFirst } = found;
  const { range, errors } = document;
  if (range === null || range === undefined || errors.length > 0) return undefined;
  document.setIn([...at, "data", LOCK_ENTRY], lock);
  const [start, , end] = range;
  // The comments above the first document belong to it, although its range starts after them.
  const before = isFirst ? "" : text.slice(0, start);
  return before + document.toString({ lineWidth: 0 }) + text.slice(end);
}

function findConfigMap(text: string, namespace: string, name: string) {
  for (const [index, document] of parseAllDocuments(text).entries()) {
    const at = isDocument(document) ? placeIn(document, namespace, name) : undefined;
    if (at !== undefined) return { document, at, isFirst: index === 0 };
  }
  return undefined;
}

/** Returns the path of a ConfigMap in a document: the document itself, or an item of a list. */
function placeIn(document: Document, namespace: string, name: string) {
  const isIt = (at: readonly (string | number)[]) =>
    document.getIn([...at, "kind"]) === "ConfigMap" &&
    document.getIn([...at, "metadata", "name"]) === name &&
    (document.getIn([...at, "metadata", "namespace"]) ?? "default") === namespace;
  if (isIt([])) return [];
  for (let index = 0; document.hasIn(["items", index]); index++)
    if (isIt(["items", index])) return ["items", index];
  return undefined;
}
