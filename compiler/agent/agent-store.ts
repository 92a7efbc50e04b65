import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { PACKED_ENTRIES } from "../../runtime/contents/mounted-entries.ts";
import type {
  Generation,
  ModuleReference,
  SignedGeneration,
} from "../../runtime/discovery/resource-types.ts";
import { isReadByName } from "../model/secret-contents.ts";

/** State of a data plane on disk: enough to serve again without the controller. */
interface StoredState {
  /** Versions by type and name. */
  readonly versions: Record<string, Record<string, string>>;
  readonly variables: Record<string, string>;
  readonly endpoints: Record<string, unknown>;
  /** The last generation that was served. */
  generation?: SignedGeneration;
}

/** A module of a generation that is stored locally. */
export interface StoredModule extends ModuleReference {
  readonly text: string;
  /** Path of its file. */
  readonly file: string;
}

/** Stores what the controller sent: modules by digest, Secrets and ConfigMaps as the files that the gateway reads. */
export class AgentStore {
  readonly secrets: string;
  readonly configMaps: string;
  readonly #folder: string;
  readonly #state: StoredState;
  /** Texts of verified modules, by digest. */
  readonly #texts = new Map<string, string>();

  /** Opens the folder of a data plane; incomplete parts are treated as absent. Throws if the folder is not writable. */
  constructor(folder: string) {
    this.#folder = folder;
    this.secrets = path.join(folder, "secrets");
    this.configMaps = path.join(folder, "config-maps");
    for (const each of [this.secrets, this.configMaps, this.#modules])
      mkdirSync(each, { recursive: true, mode: 0o700 });
    this.#state = readState(this.#stateFile);
  }

  /** The last generation that was served; `undefined` if none was. */
  get generation(): SignedGeneration | undefined {
    return this.#state.generation;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#state.variables;
  }

  /** Endpoints as JSON, by `NAMESPACE/NAME:PORT`. */
  get endpoints(): Readonly<Record<string, unknown>> {
    return this.#state.endpoints;
  }

  /** Returns the stored versions of a type, by name. */
  versions(type: string): Readonly<Record<string, string>> {
    return this.#state.versions[type] ?? {};
  }

  /** Returns the modules of a generation. Throws if one is missing or does not match its digest. */
  modulesOf({ modules }: Generation): readonly StoredModule[] {
    return modules.map(({ path: name, sha256 }) => ({
      path: name,
      text: this.#textOf(name, sha256),
      sha256,
      file: this.#moduleFile(sha256),
    }));
  }

  /** Stores a module; throws if it does not match its digest. */
  putModule(sha256: string, text: string): void {
    if (!/^[0-9a-f]{64}$/.test(sha256) || digestOf(text) !== sha256)
      throw new Error(`a module does not match its digest ${sha256}`);
    writeWhole(this.#moduleFile(sha256), text);
    this.#texts.set(sha256, text);
  }

  /** Removes a module, unless the served generation needs it. */
  removeModule(sha256: string): void {
    const isNeeded = modulesIn(this.generation).some((each) => each.sha256 === sha256);
    if (!isNeeded && /^[0-9a-f]{64}$/.test(sha256)) this.#drop(sha256);
  }

  /**
   * Writes the entries of a Secret or ConfigMap as files, and removes those that no longer exist. All change
   * atomically, as in a volume of a pod, because a certificate and its key must match at any moment. Entries of a
   * Secret that are not read by name are written in one file.
   */
  putFiles(folder: string, name: string, entries: Readonly<Record<string, string>>): void {
    const own = folderOf(folder, name);
    const data = path.join(folder, DATA);
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const next = mkdtempSync(path.join(data, `${name}.`));
    const count = Object.keys(entries).length;
    const packed = Object.entries(entries).filter(
      ([key]) => folder === this.secrets && !isReadByName(key, count),
    );
    const isPacked = new Set(packed.map(([key]) => key));
    const put = (file: string, value: string | Buffer) =>
      writeFileSync(path.join(next, file), value, { mode: 0o400 });
    for (const [key, value] of Object.entries(entries))
      if (!isPacked.has(key)) put(plainName(key), Buffer.from(value, "base64"));
    if (packed.length > 0) put(PACKED_ENTRIES, JSON.stringify(Object.fromEntries(packed)));
    const before = targetOf(own);
    const link = `${next}.link`;
    symlinkSync(path.join(DATA, path.basename(next)), link);
    renameSync(link, own);
    // A reader that has just resolved the link still needs its target, which is removed with the next change.
    this.#removeData(folder, name, [next, before]);
  }

  removeFiles(folder: string, name: string): void {
    rmSync(folderOf(folder, name), { recursive: true, force: true });
    this.#removeData(folder, name, []);
  }

  /** Records added and removed versions of a type, and persists the state. */
  note(
    type: string,
    changed: readonly { readonly name: string; readonly version: string }[],
    removed: readonly string[],
  ): void {
    const versions = { ...this.#state.versions[type] };
    for (const { name, version } of changed) versions[name] = version;
    for (const name of removed) delete versions[name];
    this.#state.versions[type] = versions;
    this.#save();
  }

  setVariable(name: string, value: string | undefined): void {
    if (value === undefined) delete this.#state.variables[name];
    else this.#state.variables[name] = value;
  }

  setEndpoints(name: string, value: unknown): void {
    if (value === undefined) delete this.#state.endpoints[name];
    else this.#state.endpoints[name] = value;
  }

  /** Persists the served generation. */
  setGeneration(generation: SignedGeneration): void {
    const gone = modulesIn(this.generation);
    this.#state.generation = generation;
    const kept = new Set(modulesIn(generation).map(({ sha256 }) => sha256));
    this.#save();
    for (const { sha256 } of gone) if (!kept.has(sha256)) this.#drop(sha256);
  }

  #textOf(name: string, sha256: string): string {
    const known = this.#texts.get(sha256);
    if (known !== undefined) return known;
    const text = storedText(this.#moduleFile(sha256), name, sha256);
    this.#texts.set(sha256, text);
    return text;
  }

  #drop(sha256: string): void {
    rmSync(this.#moduleFile(sha256), { force: true });
    this.#texts.delete(sha256);
  }

  /** Removes the former targets of a name, except for these. */
  #removeData(folder: string, name: string, kept: readonly (string | undefined)[]): void {
    const data = path.join(folder, DATA);
    const names = kept.map((each) => each && path.basename(each));
    for (const each of existsSync(data) ? readdirSync(data) : []) {
      // The name is followed by a dot and six characters.
      if (each.slice(0, -7) === name && !names.includes(each))
        rmSync(path.join(data, each), { recursive: true, force: true });
    }
  }

  #save(): void {
    writeWhole(this.#stateFile, JSON.stringify(this.#state));
  }

  get #modules(): string {
    return path.join(this.#folder, "modules");
  }

  get #stateFile(): string {
    return path.join(this.#folder, "state.json");
  }

  #moduleFile(sha256: string): string {
    return path.join(this.#modules, `${sha256}.ts`);
  }
}

/** Reads the text of a stored module. Throws if it is missing or does not match its digest. */
export function storedText(file: string, name: string, sha256: string): string {
  const text = readFileSync(file, "utf8");
  if (digestOf(text) !== sha256) throw new Error(`the module ${name} does not match its digest`);
  return text;
}

/** It was verified before it was stored. */
function modulesIn(signed: SignedGeneration | undefined): readonly ModuleReference[] {
  return signed === undefined ? [] : (JSON.parse(signed.generation) as Generation).modules;
}

function readState(file: string): StoredState {
  const empty: StoredState = { versions: {}, variables: {}, endpoints: {} };
  try {
    // Only this class writes the file, and always atomically.
    return { ...empty, ...(JSON.parse(readFileSync(file, "utf8")) as Partial<StoredState>) };
  } catch {
    return empty;
  }
}

/** Writes a file atomically: readers see the old or the new text. */
function writeWhole(file: string, text: string): void {
  const next = `${file}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}

/** Folder of the link targets: no object has this name. */
const DATA = "..data";

/** Returns the target of a link; `undefined` if there is none. */
function targetOf(link: string): string | undefined {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? readlinkSync(link)
    : undefined;
}

function folderOf(folder: string, name: string): string {
  return path.join(folder, plainName(name));
}

/** Refuses names of objects or entries that are paths. */
function plainName(name: string): string {
  if (!/^[A-Za-z0-9._@-]+$/.test(name) || name.startsWith("..") || name === ".")
    throw new Error(`"${name}" is not a valid file name`);
  return name;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
