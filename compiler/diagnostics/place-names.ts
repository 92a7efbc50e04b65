import type { ConfigPath, Origin } from "./diagnostic.ts";
import type { SourceFile } from "./source.ts";

/**
 * Names places of the configuration in generated code: `gateway.yaml routes[shop].policies.cors`,
 * `HTTPRoute default/tools spec.rules[0]`. List items go by their names, so inserting, removing or reordering one of them
 * changes no other place. An item without a name, or with that of a sibling, goes by its index.
 */
export class PlaceNames {
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #names = new WeakMap<object, ItemNames>();
  readonly #anchors = new WeakMap<object, Anchors>();

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.name, file]));
  }

  /** The name of a place. Kubernetes resources are named instead of their file, so moving documents changes nothing. */
  textOf(origin: Origin): string {
    const { file, path, resource } = origin;
    const depth = resource?.depth ?? 0;
    let value = this.documentOf(origin);
    const anchors = resource === undefined ? this.#anchorsOf(value) : undefined;
    let text = "";
    let list = "";
    for (const [index, step] of path.entries()) {
      const label = typeof step === "number" ? this.#namesIn(value, list)[step] : undefined;
      if (typeof step === "string") list = step;
      value = childOf(value, step);
      if (index < depth) continue;
      if (typeof step === "number") {
        // A place starts at the innermost listener or route whose name says which one it is.
        const anchor = anchors?.get(value);
        text = anchor ?? `${text}[${label ?? step}]`;
      } else text = text === "" ? step : `${text}.${step}`;
    }
    return `${resource?.name ?? file} ${text}`.trim();
  }

  /** The path that a name leads to, without its file or resource, whose path is `root`. */
  pathOf(text: string, root: Origin): ConfigPath {
    const named = stepsOf(text);
    const document = this.documentOf(root);
    const anchor = this.#anchorsOf(document)?.paths.get(named.slice(0, 2).join(""));
    const path = [...(anchor ?? root.path)];
    let value = path.reduce(childOf, document);
    let list = "";
    for (const step of anchor === undefined ? named : named.slice(2)) {
      const key = step.startsWith("[") ? this.#indexOf(value, list, step.slice(1, -1)) : step;
      list = step;
      path.push(key);
      value = childOf(value, key);
    }
    return path;
  }

  /** A document as data: the same object until its file changes. `undefined` if the file is not known. */
  documentOf({ file, document }: Pick<Origin, "file" | "document">): unknown {
    return this.#files.get(file)?.data[document];
  }

  /** The names of the items of the list `key`. */
  #namesIn(list: unknown, key: string): ItemNames {
    if (!Array.isArray(list)) return [];
    const known = this.#names.get(list) ?? itemNames(list, key);
    this.#names.set(list, known);
    return known;
  }

  #indexOf(list: unknown, key: string, name: string): number {
    const index = this.#namesIn(list, key).indexOf(name);
    return index < 0 ? Number(name) : index;
  }

  #anchorsOf(document: unknown): Anchors | undefined {
    if (typeof document !== "object" || document === null) return undefined;
    const known = this.#anchors.get(document) ?? this.#findAnchors(document);
    this.#anchors.set(document, known);
    return known;
  }

  #findAnchors(document: object): Anchors {
    const found = new Map<string, { readonly item: unknown; readonly path: ConfigPath }[]>();
    const walk = (value: unknown, path: ConfigPath): void => {
      for (const key of ANCHORED) {
        const list = childOf(value, key);
        if (!Array.isArray(list)) continue;
        for (const [index, item] of list.entries()) {
          const at = [...path, key, index];
          const { name } = fieldsOf(item);
          if (typeof name === "string" && key !== "binds" && key !== "routeGroups") {
            const text = `${key}[${quoted(name)}]`;
            found.set(text, [...(found.get(text) ?? []), { item, path: at }]);
          }
          walk(item, at);
        }
      }
    };
    walk(document, []);
    const single = [...found].flatMap(([text, [first, second]]) =>
      first === undefined || second !== undefined ? [] : { text, ...first },
    );
    const texts = new Map(single.map(({ text, item }) => [item, text]));
    return {
      get: (item) => texts.get(item),
      paths: new Map(single.map(({ text, path }) => [text, path])),
    };
  }
}

/** One for all programs of a compilation, so that names are found once. */
const namesByFiles = new WeakMap<readonly SourceFile[], PlaceNames>();

/** The names of the places in files. */
export function placeNames(files: readonly SourceFile[]): PlaceNames {
  const known = namesByFiles.get(files) ?? new PlaceNames(files);
  namesByFiles.set(files, known);
  return known;
}

/** The name of each item of a list; `undefined` where the index has to do. */
type ItemNames = readonly (string | undefined)[];

/** The listeners and routes of a file whose names no other one has. */
interface Anchors {
  /** `routes[shop]`, by the item. */
  readonly get: (item: unknown) => string | undefined;
  readonly paths: ReadonlyMap<string, ConfigPath>;
}

/** Lists that lead to listeners and routes. */
const ANCHORED = ["binds", "listeners", "routes", "tcpRoutes", "routeGroups"] as const;

function itemNames(list: readonly unknown[], key: string): ItemNames {
  const names = list.map((item) => itemName(item, key));
  const counts = Map.groupBy(names, (name) => name);
  return names.map((name) => (counts.get(name)?.length === 1 ? name : undefined));
}

/** The name of an item; without one the port of a bind, the host name of a listener, or the first path of a route. */
function itemName(item: unknown, list: string): string | undefined {
  const { name, port, hostname = "*", matches } = fieldsOf(item);
  if (typeof name === "string" && name !== "") return quoted(name);
  if (list === "binds") return typeof port === "number" ? String(port) : undefined;
  if (list === "listeners") return typeof hostname === "string" ? quoted(hostname) : undefined;
  if (list !== "routes") return undefined;
  const [first] = Array.isArray(matches) ? matches : [];
  const { exact = "/", pathPrefix = exact, regex = pathPrefix } = fieldsOf(fieldsOf(first).path);
  return typeof regex === "string" ? quoted(regex) : undefined;
}

/** A name that could be read as an index, or as the end of the brackets, is written as a string. */
function quoted(name: string): string {
  return /^[!-~]+$/.test(name) && !/^\d+$|[[\]"\\]/.test(name) ? name : JSON.stringify(name);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function childOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return value[Number(step)];
  // Without a copy of the object: each place of a file reads all objects on its way.
  const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, step);
  return isThere ? Reflect.get(value, step) : undefined;
}

/** `a.b[x]` as `a`, `b` and `[x]`. */
function stepsOf(text: string): readonly string[] {
  return text.match(/\["(?:[^"\\]|\\.)*"\]|\[[^\]]*\]|[^.[\]]+/g) ?? [];
}
