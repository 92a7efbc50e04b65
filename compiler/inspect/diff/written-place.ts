import path from "node:path";
import { isMap, visit } from "yaml";
import { readDocuments } from "../../1-parse/documents.ts";
import { isLock, isTestFile } from "../../1-parse/input-files.ts";
import { Diagnostics, type Origin, type ResourceName } from "../../diagnostics/diagnostic.ts";
import { type Location, locate, type SourceFile, valueAt } from "../../diagnostics/source.ts";
import type { Host } from "../../host.ts";

/** Maximum size of a file that is searched, in characters. */
const MAX_SIZE = 1_000_000;
/** Minimum length of a string that identifies a place outside of its manifest: shorter ones occur by chance. */
const MIN_LENGTH = 12;

/**
 * Returns a function that finds the line of a file in the folder from which a place of rendered manifests comes: the same
 * path of the manifest with that name, else the only string with that value in it, else the only one in all YAML files
 * (such as `values.yaml`). Returns `undefined` if there is none or more than one.
 */
export function writtenPlaces(
  host: Host,
): (place: Origin, rendered: readonly SourceFile[]) => Location | undefined {
  const files = (host.filesIn(".") ?? []).filter((file) => !isTestFile(file) && !isLock(file));
  const sources = new Map<string, SourceFile>();
  const sourceOf = (file: string): SourceFile | undefined => {
    const known = sources.get(file);
    if (known !== undefined) return known;
    const read = host.readText(file);
    if (read.kind !== "text" || read.text.length > MAX_SIZE) return undefined;
    const source = readDocuments(file, path.normalize(file), read.text, new Diagnostics());
    sources.set(file, source);
    return source;
  };
  return (place, rendered) => {
    const { resource } = place;
    const value = valueAt(place, rendered);
    const all = files.flatMap((file) => sourceOf(file) ?? []);
    const own = resource ? all.flatMap((source) => manifestsNamed(source, resource)) : [];
    const inside = place.path.slice(resource?.depth);
    const same = own.filter(
      ({ source, at }) =>
        JSON.stringify(valueAt({ ...at, path: inside }, [source])) === JSON.stringify(value),
    );
    const [only] = same;
    if (only !== undefined && same.length === 1)
      return locate({ ...only.at, path: inside }, [only.source]);
    if (typeof value !== "string" || value.length < MIN_LENGTH) return undefined;
    const inOwn = own.flatMap(({ source, at }) => stringsIn(source, value, at.document));
    const found = inOwn.length > 0 ? inOwn : all.flatMap((source) => stringsIn(source, value));
    return found.length === 1 ? found[0] : undefined;
  };
}

interface WrittenManifest {
  readonly source: SourceFile;
  /** Its root. */
  readonly at: Origin;
}

/** Returns the manifests of a file that a rendered resource may come from: its name may have got a prefix or a suffix. */
function manifestsNamed(source: SourceFile, { name }: ResourceName): readonly WrittenManifest[] {
  const [kind, place = ""] = name.split(" ", 2);
  const rendered = place.slice(place.indexOf("/") + 1);
  return source.documents.flatMap(({ yaml }, document) => {
    if (!isMap(yaml.contents) || yaml.errors.length > 0) return [];
    const written = yaml.getIn(["metadata", "name"]);
    const isSame =
      yaml.get("kind") === kind &&
      typeof written === "string" &&
      (rendered === written ||
        rendered.endsWith(`-${written}`) ||
        rendered.startsWith(`${written}-`));
    return isSame ? [{ source, at: { file: source.name, document, path: [] } }] : [];
  });
}

/** Returns the places of strings with a value in a file, or in one of its documents. */
function stringsIn(source: SourceFile, value: string, only?: number): readonly Location[] {
  if (!source.text.includes(value.slice(0, MIN_LENGTH))) return [];
  return source.documents.flatMap(({ yaml }, document) => {
    if (yaml.errors.length > 0 || (only !== undefined && only !== document)) return [];
    const found: Location[] = [];
    visit(yaml, {
      Scalar(key, node) {
        if (key === "key" || node.value !== value) return;
        const [start, end] = node.range ?? [0, 0];
        const offsets = [start, end] as const;
        found.push(locate({ file: source.name, document, path: [], offsets }, [source]));
      },
    });
    return found;
  });
}
