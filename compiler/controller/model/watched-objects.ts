import { setTimeout as pause } from "node:timers/promises";
import { splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { selects } from "../../2-lower/kubernetes/inventory/selectors.ts";
import type { LabelSelector } from "../../manifests/manifests.ts";
import {
  type ApiObject,
  apiVersionOf,
  objectKey,
  type ResourceType,
} from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { errorText, Reflector } from "../kubernetes/reflector.ts";
import { servedTypes } from "../kubernetes/served-types.ts";
import { InstalledDefinitions } from "./installed-definitions.ts";
import { MeshPods } from "./mesh-pods.ts";
import { PoolPods } from "./pool-pods.ts";
import { type EntryValues, ReadValues } from "./read-values.ts";
import { ReadingTurns } from "./reading-turns.ts";
import { CA, fieldSelectorOf, keptObject, manifestText } from "./watched-object.ts";

/** Which objects are read. */
export interface WatchScope {
  /** Only namespaces that one of these selects; empty: all. */
  readonly namespaces: readonly LabelSelector[];
  /** Whether InferencePools are. */
  readonly hasInference: boolean;
  /** Secrets (`NAMESPACE/NAME`) whose values are known at all times. */
  readonly secrets: readonly string[];
}

/** Listeners for changes of watched objects. */
export interface WatchListener {
  /** Called when an input of compilations has changed. */
  readonly declared: () => void;
  /** Called when data of data planes, or a status, has changed: nothing is compiled. */
  readonly data: () => void;
  readonly warn: (message: string) => void;
}

/** An object that is compiled. */
export interface DeclaredObject {
  /** Says which it is. */
  readonly path: string;
  /** Its manifest. */
  readonly text: string;
  readonly object: ApiObject;
}

/** Kinds with values that Gateways read. */
export type ValueKind = "Secret" | "ConfigMap";

/** `NAMESPACE/NAME` of the objects whose values are read. */
export type ValueKeys = Readonly<Record<ValueKind, ReadonlySet<string>>>;

const VALUE_KINDS: readonly ValueKind[] = ["Secret", "ConfigMap"];
const CORE = { group: "", version: "v1", isNamespaced: true };
const SECRET: ResourceType = { ...CORE, kind: "Secret", plural: "secrets" };
const CONFIG_MAP: ResourceType = { ...CORE, kind: "ConfigMap", plural: "configmaps" };

/** Milliseconds between two looks for kinds that were not installed. */
const LOOK_AGAIN = 10_000;
/** The same while the API server does not say anything. */
const ASK_AGAIN = 1_000;

/** Every object that gateways are made of, kept in step with the API server. */
export class WatchedObjects {
  readonly #api: ApiServer;
  readonly #listener: WatchListener;
  readonly #scope: WatchScope;
  /** By group and kind. */
  readonly #reflectors: Map<string, Reflector> = new Map();
  /** Those of kinds that are served in another version now: they take over when all of their objects are known. */
  readonly #next: Map<string, Reflector> = new Map();
  /** Manifests by path, for those that were read: an object that did not change is not written again. */
  readonly #texts: WeakMap<ApiObject, string> = new WeakMap();
  /** By Service, then by their own key. */
  readonly #slices: Map<string, Map<string, ApiObject>> = new Map();
  readonly #turns = new ReadingTurns();
  #timer: NodeJS.Timeout | undefined;
  /** The definitions of the kinds. */
  readonly definitions: InstalledDefinitions;
  /** The pods of the mesh that Gateways are a part of. */
  readonly mesh: MeshPods;
  /** The pods of InferencePools. */
  readonly pools: PoolPods;
  readonly #values: Readonly<Record<ValueKind, ReadValues>>;

  private constructor(api: ApiServer, scope: WatchScope, listener: WatchListener) {
    this.#api = api;
    this.#scope = scope;
    this.#listener = listener;
    const { warn, data: changed } = listener;
    const labelsOf = (namespace: string) => this.find("Namespace", namespace)?.metadata.labels;
    this.mesh = new MeshPods(api, { warn, changed }, labelsOf);
    this.pools = new PoolPods(api, { warn, changed });
    this.#values = {
      Secret: new ReadValues({ api, warn, type: SECRET, always: scope.secrets, entry: undefined }),
      ConfigMap: new ReadValues({ api, warn, type: CONFIG_MAP, always: [], entry: CA }),
    };
    this.definitions = new InstalledDefinitions(api, { warn, changed });
  }

  /** Follows every kind that is installed; resolves when all of their objects are known. */
  static async open(
    api: ApiServer,
    scope: WatchScope,
    listener: WatchListener,
  ): Promise<WatchedObjects> {
    const objects = new WatchedObjects(api, scope, listener);
    const types = await objects.#firstTypes();
    objects.#follow(types);
    await objects.definitions.look(types);
    await Promise.all([...objects.#reflectors.values()].map(({ synced }) => synced));
    await objects.#followPods();
    objects.#timer = setInterval(() => void objects.#lookAgain(), LOOK_AGAIN);
    return objects;
  }

  /** The objects of a kind, of whatever group. */
  *ofKind(kind: string): Iterable<ApiObject> {
    for (const { objects, type } of this.#reflectors.values())
      if (type.kind === kind) yield* objects.values();
  }

  /** An object by its kind and `NAMESPACE/NAME`. */
  find(kind: string, key: string): ApiObject | undefined {
    for (const { objects, type } of this.#reflectors.values()) {
      const found = type.kind === kind ? objects.get(key) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** From now on the values of these objects are kept, and of no others; resolves when they are known. */
  async keepValues(read: ValueKeys): Promise<void> {
    await Promise.all(
      VALUE_KINDS.map((kind) =>
        this.#values[kind].keep(read[kind], (key) => this.find(kind, key) !== undefined),
      ),
    );
  }

  /**
   * Returns the entries of an object whose values are read (those of a Secret in base64); `undefined` if there is no
   * such object.
   */
  valuesOf(kind: ValueKind, key: string): EntryValues | undefined {
    return this.find(kind, key) === undefined ? undefined : this.#values[kind].of(key);
  }

  /** The EndpointSlices of a Service, by its `NAMESPACE/NAME`. */
  slicesOf(service: string): Iterable<ApiObject> {
    return this.#slices.get(service)?.values() ?? [];
  }

  /** The type that an object is served as. */
  typeOf(object: ApiObject): ResourceType | undefined {
    return this.#reflectorOf(object)?.type;
  }

  /** An object as it is known now; undefined when it is gone. */
  newest(object: ApiObject): ApiObject | undefined {
    return this.#reflectorOf(object)?.objects.get(objectKey(object.metadata));
  }

  /** All objects that are compiled, with their manifests. */
  declared(): readonly DeclaredObject[] {
    const found: DeclaredObject[] = [];
    for (const { type, objects } of this.#reflectors.values()) {
      if (!isCompiled(type)) continue;
      for (const [key, object] of objects) {
        if (!this.isRead(object)) continue;
        const text = this.#texts.get(object) ?? manifestText(object);
        this.#texts.set(object, text);
        found.push({ path: `/${apiVersionOf(type)}/${type.kind}/${key}.json`, text, object });
      }
    }
    return found;
  }

  /** How often kinds were listed. */
  get lists(): number {
    return [...this.#reflectors.values()].reduce((sum, { lists }) => sum + lists, 0);
  }

  /** Whether the namespace of an object is one of those that are read. */
  isRead({ metadata: { namespace } }: ApiObject): boolean {
    const { namespaces } = this.#scope;
    if (namespace === undefined || namespaces.length === 0) return true;
    const labels = this.find("Namespace", namespace)?.metadata.labels ?? {};
    return namespaces.some((selector) => selects(selector, labels));
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const each of [...this.#reflectors.values(), ...this.#next.values()]) each.stop();
    for (const kind of VALUE_KINDS) this.#values[kind].stop();
    this.mesh.stop();
    this.pools.stop();
  }

  #follow(types: readonly ResourceType[]): void {
    for (const type of types) {
      if (type.kind === "InferencePool" && !this.#scope.hasInference) continue;
      const id = `${type.group} ${type.kind}`;
      const followed = this.#reflectors.get(id);
      if (followed === undefined) this.#reflectors.set(id, this.#reflector(type));
      else if (followed.type.version !== type.version) this.#followNext(id, followed, type);
    }
  }

  /** Nothing of a kind is missing or there twice while its definition gets another version. */
  #followNext(id: string, followed: Reflector, type: ResourceType): void {
    const known = this.#next.get(id);
    if (known?.type.version === type.version) return;
    known?.stop();
    const next = this.#reflector(type);
    this.#next.set(id, next);
    void next.synced.then(() => {
      if (this.#next.get(id) !== next) return;
      this.#next.delete(id);
      this.#reflectors.set(id, next);
      followed.stop();
      this.#listener.declared();
    });
  }

  #reflector(type: ResourceType): Reflector {
    const values = VALUE_KINDS.flatMap((kind) => (kind === type.kind ? this.#values[kind] : []));
    const isData = values.length > 0;
    const reflector: Reflector = new Reflector(this.#api, {
      type,
      fieldSelector: fieldSelectorOf(type),
      keep: (object) => {
        for (const each of values) each.take(object);
        return isData ? this.#readInTurn(object) : keptObject(object);
      },
      delayOf: isData ? (object) => this.#delayOf(object) : undefined,
      changed: (key, before) => {
        const object = reflector.objects.get(key);
        if (object === undefined) for (const each of values) each.forget(key);
        if (type.kind === "EndpointSlice") this.#indexSlice(key, object, before);
        this.#changed(type, object, before);
      },
      warn: this.#listener.warn,
    });
    return reflector;
  }

  #delayOf({ metadata: { namespace = "" } }: ApiObject): number {
    return this.#turns.delayOf(namespace, performance.now());
  }

  #readInTurn(object: ApiObject): ApiObject {
    const { namespace = "" } = object.metadata;
    const before = process.threadCpuUsage();
    const kept = keptObject(object);
    const { user, system } = process.threadCpuUsage(before);
    this.#turns.charge(namespace, (user + system) / 1_000, performance.now());
    return kept;
  }

  #reflectorOf({ apiVersion, kind }: ApiObject): Reflector | undefined {
    return this.#reflectors.get(`${splitApiVersion(apiVersion).group} ${kind}`);
  }

  #indexSlice(key: string, object: ApiObject | undefined, before: ApiObject | undefined): void {
    const [old, now] = [before, object].map((each) => each && serviceOf(each));
    if (old !== undefined) this.#slices.get(old)?.delete(key);
    if (now === undefined || object === undefined) return;
    const own = this.#slices.get(now) ?? new Map<string, ApiObject>();
    this.#slices.set(now, own.set(key, object));
  }

  #changed(type: ResourceType, object: ApiObject | undefined, before: ApiObject | undefined): void {
    const text = object && manifestText(object);
    if (object !== undefined && text !== undefined) this.#texts.set(object, text);
    const known = before && (this.#texts.get(before) ?? manifestText(before));
    if (!isCompiled(type) || text === known) this.#listener.data();
    else if (!NAMING_PODS.includes(type.kind)) this.#listener.declared();
    // It is compiled when the pods are known that it is about.
    else void this.#followPods().then(() => this.#listener.declared());
  }

  /** Follows the pods that are read of what is declared now; resolves when they are known, or that takes too long. */
  async #followPods(): Promise<void> {
    const named = NAMING_PODS.flatMap((kind) => [...this.ofKind(kind)]);
    const pools = named.filter(({ kind }) => kind === "InferencePool");
    await Promise.all([
      named.some(namesMesh) ? this.mesh.follow() : undefined,
      this.pools.follow(pools.filter((pool) => this.isRead(pool))),
    ]);
  }

  /** Resolves to the installed kinds when the API server has listed them. */
  async #firstTypes(): Promise<readonly ResourceType[]> {
    for (;;) {
      try {
        return await servedTypes(this.#api);
      } catch (error) {
        this.#listener.warn(`the API server is away: ${errorText(error)}`);
        await pause(ASK_AGAIN);
      }
    }
  }

  async #lookAgain(): Promise<void> {
    try {
      const types = await servedTypes(this.#api);
      this.#follow(types);
      await this.definitions.look(types);
    } catch (error) {
      this.#listener.warn(errorText(error));
    }
  }
}

/** `NAMESPACE/NAME` of the Service that an EndpointSlice is of. */
function serviceOf({ metadata: { namespace, labels } }: ApiObject): string | undefined {
  const name = labels?.["kubernetes.io/service-name"];
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/** Endpoints are data: pods come and go without anything being compiled. */
function isCompiled({ kind }: ResourceType): boolean {
  return kind !== "EndpointSlice";
}

/** Sources of mesh membership, and the reduced form of pods. */
const NAMING_PODS: readonly string[] = [
  "GatewayParameters",
  "AgentgatewayParameters",
  "InferencePool",
];

function namesMesh({ spec }: ApiObject): boolean {
  const { mesh, istio } = recordOf(spec) ?? {};
  return mesh !== undefined || istio !== undefined;
}
