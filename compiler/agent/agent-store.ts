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
import type {
  Generation,
  ModuleReference,
  SignedGeneration,
} from "../../runtime/discovery/resource-types.ts";

/** What is on the disk of a data plane: enough to serve again without the controller. */
interface StoredState {
  /** Versions by type and name. */
  readonly versions: Record<string, Record<string, string>>;
  readonly variables: Record<string, string>;
  readonly endpoints: Record<string, unknown>;
  /** The last one that was served. */
  generation?: SignedGeneration;
}

/** A module of a generation that is here. */
export interface StoredModule extends ModuleReference {
  readonly text: string;
  /** Where it is kept. */
  readonly file: string;
}

/** Keeps what the controller sent: modules by digest, Secrets and ConfigMaps as the files that the gateway reads. */
export class AgentStore {
  readonly secrets: string;
  readonly configMaps: string;
  readonly #folder: string;
  readonly #state: StoredState;
  /** Texts of modules that are what their digests say, by digest. */
  readonly #texts = new Map<string, string>();

  /** Opens the folder of a data plane; what is not whole in it counts as absent. Throws when it can't be written. */
  constructor(folder: string) {
    this.#folder = folder;
    this.secrets = path.join(folder, "secrets");
    this.configMaps = path.join(folder, "config-maps");
    for (const each of [this.secrets, this.configMaps, this.#modules])
      mkdirSync(each, { recursive: true, mode: 0o700 });
    this.#state = readState(this.#stateFile);
  }

  /** The last generation that was served; undefined: none was. */
  get generation(): SignedGeneration | undefined {
    return this.#state.generation;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#state.variables;
  }

  /** JSON of each, by `NAMESPACE/NAME:PORT`. */
  get endpoints(): Readonly<Record<string, unknown>> {
    return this.#state.endpoints;
  }

  /** The versions that are here, by name. */
  versions(type: string): Readonly<Record<string, string>> {
    return this.#state.versions[type] ?? {};
  }

  /** The texts of a generation's modules. Throws when one is not here, or is not what its digest says. */
  modulesOf({ modules }: Generation): readonly StoredModule[] {
    return modules.map(({ path: name, sha256 }) => ({
      path: name,
      text: this.#textOf(name, sha256),
      sha256,
      file: this.#moduleFile(sha256),
    }));
  }

  /** Keeps a module; throws when its digest is another one. */
  putModule(sha256: string, text: string): void {
    if (!/^[0-9a-f]{64}$/.test(sha256) || digestOf(text) !== sha256)
      throw new Error(`a module is not what its digest ${sha256} says`);
    writeWhole(this.#moduleFile(sha256), text);
    this.#texts.set(sha256, text);
  }

  /** Removes a module, unless what is served needs it. */
  removeModule(sha256: string): void {
    const isNeeded = modulesIn(this.generation).some((each) => each.sha256 === sha256);
    if (!isNeeded && /^[0-9a-f]{64}$/.test(sha256)) this.#drop(sha256);
  }

  /**
   * Writes the entries of a Secret or ConfigMap as files, and removes those that it has no more. All change together, as in
   * a volume of a pod: a certificate belongs to its key, and there is no moment without either.
   */
  putFiles(folder: string, name: string, entries: ReadonlyMap<string, Buffer>): void {
    const own = folderOf(folder, name);
    const data = path.join(folder, DATA);
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const next = mkdtempSync(path.join(data, `${name}.`));
    for (const [key, value] of entries)
      writeFileSync(path.join(next, plainName(key)), value, { mode: 0o400 });
    const before = targetOf(own);
    const link = `${next}.link`;
    symlinkSync(path.join(DATA, path.basename(next)), link);
    renameSync(link, own);
    // Who has followed the name just now still finds what it led to; it goes with the next change.
    this.#removeData(folder, name, [next, before]);
  }

  removeFiles(folder: string, name: string): void {
    rmSync(folderOf(folder, name), { recursive: true, force: true });
    this.#removeData(folder, name, []);
  }

  /** Notes what has come and gone of a type, and writes everything down that is not a file of its own. */
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

  /** Remembers what is served now. */
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

  /** Removes the folders that a name has led to, but these. */
  #removeData(folder: string, name: string, kept: readonly (string | undefined)[]): void {
    const data = path.join(folder, DATA);
    const names = kept.map((each) => each && path.basename(each));
    for (const each of existsSync(data) ? readdirSync(data) : []) {
      // Behind the name stand a dot and six characters.
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

/** The text of a module that is kept in a file. Throws when it is not there, or not what its digest says. */
export function storedText(file: string, name: string, sha256: string): string {
  const text = readFileSync(file, "utf8");
  if (digestOf(text) !== sha256) throw new Error(`the module ${name} is not what its digest says`);
  return text;
}

/** It was checked before it was kept. */
function modulesIn(signed: SignedGeneration | undefined): readonly ModuleReference[] {
  return signed === undefined ? [] : (JSON.parse(signed.generation) as Generation).modules;
}

function readState(file: string): StoredState {
  const empty: StoredState = { versions: {}, variables: {}, endpoints: {} };
  try {
    // Only this class writes the file, and always as a whole.
    return { ...empty, ...(JSON.parse(readFileSync(file, "utf8")) as Partial<StoredState>) };
  } catch {
    return empty;
  }
}

/** A reader sees the old text or the new one. */
function writeWhole(file: string, text: string): void {
  const next = `${file}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}

/** Where the folders are that names lead to: no object is called so. */
const DATA = "..data";

/** What a link leads to; undefined: there is none. */
function targetOf(link: string): string | undefined {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? readlinkSync(link)
    : undefined;
}

function folderOf(folder: string, name: string): string {
  return path.join(folder, plainName(name));
}

/** Names of objects and their entries are no paths; what is one nevertheless is refused. */
function plainName(name: string): string {
  if (!/^[A-Za-z0-9._@-]+$/.test(name) || name.startsWith("..") || name === ".")
    throw new Error(`"${name}" is no name of a file`);
  return name;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
