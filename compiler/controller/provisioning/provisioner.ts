import { randomBytes } from "node:crypto";
import type { Json } from "../../model/json.ts";
import {
  type ApiObject,
  apiVersionOf,
  objectKey,
  type ResourceType,
  readObject,
  resourcePath,
} from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { FIELD_MANAGER, isAppliedHere, isTakenOver } from "../kubernetes/field-managers.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { errorText, Reflector } from "../kubernetes/reflector.ts";
import type { GatewayCode } from "../model/compile-changes.ts";

/** The kinds of objects that run a Gateway. */
const ownedTypes: readonly ResourceType[] = [
  owned("", "v1", "ServiceAccount", "serviceaccounts"),
  owned("", "v1", "ConfigMap", "configmaps"),
  owned("", "v1", "Service", "services"),
  owned("apps", "v1", "Deployment", "deployments"),
  owned("apps", "v1", "DaemonSet", "daemonsets"),
  owned("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  owned("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
];

const LABEL = "app.kubernetes.io/managed-by";

const VALUE = "gwc";

/** The label that the objects of a controller have. */
const OWNED: Readonly<Record<string, string>> = { [LABEL]: VALUE };

/** Selector of the owned objects. */
const OWNED_SELECTOR: string = `${LABEL}=${VALUE}`;

/** The last applied object as text, and a mark by which foreign changes are detected. */
interface Applied {
  readonly object: ApiObject;
  readonly text: string;
  readonly mark: string;
}

/** Dependencies and listeners of provisioning. */
export interface ProvisionerSettings {
  readonly api: ApiServer;
  /** Whether there is a Secret, by `NAMESPACE/NAME`. */
  readonly hasSecret: (key: string) => boolean;
  /** Gateways that are for other controllers now, by `NAMESPACE/NAME`. */
  readonly others: () => ReadonlyMap<string, ApiObject>;
  /** Called when the result of a Gateway's objects has changed. */
  readonly changed: () => void;
  readonly warn: (message: string) => void;
}

/** A Gateway and the code that its objects are made of. */
export interface ProvisionedGateway {
  readonly gateway: ApiObject;
  readonly compiled: GatewayCode;
}

/** Milliseconds until what failed is tried again. */
const TRY_AGAIN = 5_000;

/**
 * Keeps the objects that run each Gateway. Creates and changes them by server-side apply, repairs them when somebody
 * changes our fields, and deletes them when they are no longer wanted or their Gateway belongs to another controller.
 * Never changes objects of other owners.
 */
export class Provisioner {
  readonly #settings: ProvisionerSettings;
  readonly #reflectors: ReadonlyMap<string, Reflector>;
  #wanted: ReadonlyMap<string, ProvisionedGateway> = new Map();
  /** Applied objects, by kind and key. */
  readonly #applied: Map<string, Applied> = new Map();
  readonly #problems: Map<string, string> = new Map();
  readonly #waiting: Set<string> = new Set();
  #isBusy = false;
  #timer: NodeJS.Timeout | undefined;
  /** False: another replica writes. */
  isLeading = false;

  constructor(settings: ProvisionerSettings) {
    this.#settings = settings;
    this.#reflectors = new Map(
      ownedTypes.map((type) => [
        type.kind,
        new Reflector(settings.api, {
          type,
          labelSelector: OWNED_SELECTOR,
          keep: withoutContent,
          changed: () => this.compare(),
          warn: settings.warn,
        }),
      ]),
    );
  }

  /** Returns why a Gateway's objects are not as wanted; `undefined` if they are, or nothing is known yet. */
  problemOf(gateway: string): string | undefined {
    return this.#problems.get(gateway);
  }

  /** Replaces the Gateways that are to run. */
  provision(wanted: ReadonlyMap<string, ProvisionedGateway>): void {
    this.#wanted = wanted;
    this.compare();
  }

  /** Looks at all Gateways again. */
  compare(): void {
    if (!this.isLeading) return;
    for (const key of this.#wanted.keys()) this.#waiting.add(key);
    for (const key of this.#settings.others().keys()) this.#waiting.add(key);
    void this.#work();
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const reflector of this.#reflectors.values()) reflector.stop();
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    await Promise.all([...this.#reflectors.values()].map(({ synced }) => synced));
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      if (!this.isLeading) continue;
      const problem = await this.#workOn(key).catch(errorText);
      if (problem === this.#problems.get(key)) continue;
      if (problem === undefined) this.#problems.delete(key);
      else {
        this.#problems.set(key, problem);
        this.#settings.warn(`the objects of ${key}: ${problem}`);
      }
      this.#settings.changed();
    }
    this.#isBusy = false;
    if (this.#problems.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.compare(), TRY_AGAIN).unref();
  }

  /** The problem; `undefined` if there is no problem. */
  async #workOn(key: string): Promise<string | undefined> {
    // The wanted objects are of a moment before: another controller may run the Gateway by now.
    const left = this.#settings.others().get(key);
    const wanted = this.#wanted.get(key);
    if (left !== undefined) return this.#leave(left);
    return wanted === undefined ? undefined : this.#provisionOne(wanted);
  }

  async #provisionOne({ gateway, compiled }: ProvisionedGateway): Promise<string | undefined> {
    const objects = wantedObjects(compiled.objects, gateway);
    const [first] = objects;
    if (first !== undefined) await this.#makeSessionKey(first, gateway);
    for (const object of objects) {
      const problem = await this.#apply(object, gateway);
      if (problem !== undefined) return problem;
    }
    await this.#prune(objects, gateway);
    return undefined;
  }

  async #apply(object: ApiObject, gateway: ApiObject): Promise<string | undefined> {
    const type = ownedTypes.find(({ kind }) => kind === object.kind);
    if (type === undefined) return undefined;
    const id = `${object.kind} ${objectKey(object.metadata)}`;
    const live = this.#reflectors.get(object.kind)?.objects.get(objectKey(object.metadata));
    const text = JSON.stringify(object);
    const applied = this.#applied.get(id);
    if (live !== undefined && applied?.text === text && applied.mark === markOf(live))
      return undefined;
    const { namespace, name } = object.metadata;
    const path = resourcePath(type, namespace, name);
    const found = live ?? (await this.#read(path));
    const isMade = live !== undefined || (isAppliedHere(found) && !isTakenOver(found));
    if (found !== undefined && !(isMade && isOwnedBy(found, gateway)))
      return `${object.kind} ${name} is there, and belongs to somebody else`;
    const { status, body } = await this.#settings.api.request({
      method: "PATCH",
      path: `${path}?fieldManager=${FIELD_MANAGER}&force=true`,
      contentType: "application/apply-patch+yaml",
      body: object,
    });
    if (status >= 300) return `${id} was refused (${status}): ${textField(body, "message") ?? ""}`;
    this.#applied.set(id, { object, text, mark: markOf(body) });
    return undefined;
  }

  /** Removes what a Gateway no longer asks for: a budget, an autoscaler. */
  async #prune(wanted: readonly ApiObject[], gateway: ApiObject): Promise<void> {
    const kept = new Set(wanted.map(({ kind, metadata }) => `${kind} ${objectKey(metadata)}`));
    for (const { type, objects } of this.#reflectors.values()) {
      // Clients know a Gateway by the address of its Service: it outlives the last valid listener.
      if (type.kind === "Service") continue;
      for (const [key, object] of objects) {
        if (kept.has(`${type.kind} ${key}`) || !isOwnedBy(object, gateway)) continue;
        await this.#delete(type, object);
      }
    }
  }

  /** Removes what runs a Gateway that another controller is for now; what that one has taken over is left to it. */
  async #leave(gateway: ApiObject): Promise<undefined> {
    const applied = [...this.#applied.values()].map(({ object }) => object);
    for (const { type, objects } of this.#reflectors.values()) {
      // Another controller that took an object over may have removed our label.
      const ofType = applied.filter(({ kind }) => kind === type.kind);
      for (const { kind, metadata } of [...objects.values(), ...ofType].filter((each) =>
        isOwnedBy(each, gateway),
      )) {
        this.#applied.delete(`${kind} ${objectKey(metadata)}`);
        const found = await this.#read(resourcePath(type, metadata.namespace, metadata.name));
        const seen = readObject(found, type);
        if (seen === undefined || !isOwnedBy(seen, gateway)) continue;
        if (!isTakenOver(seen)) await this.#delete(type, seen);
        else if (isAppliedHere(seen)) await this.#letGo(type, seen);
      }
    }
  }

  /** Gives up the fields of an object: those that nobody else applied go. */
  async #letGo(type: ResourceType, { apiVersion, kind, metadata }: ApiObject): Promise<void> {
    const { namespace, name } = metadata;
    await this.#settings.api.request({
      method: "PATCH",
      path: `${resourcePath(type, namespace, name)}?fieldManager=${FIELD_MANAGER}&force=true`,
      contentType: "application/apply-patch+yaml",
      body: { apiVersion, kind, metadata: { name, namespace } },
    });
  }

  /** Removes an object as it is known: one that somebody changed since is looked at again. */
  async #delete(type: ResourceType, { metadata }: ApiObject): Promise<void> {
    const { namespace, name, uid, resourceVersion } = metadata;
    const { status, body } = await this.#settings.api.request({
      method: "DELETE",
      path: resourcePath(type, namespace, name),
      body: { preconditions: { uid, resourceVersion } },
    });
    if (status >= 300 && status !== MISSING && status !== CONFLICT)
      throw new Error(`${type.kind} ${name} was not removed: ${textField(body, "message") ?? ""}`);
  }

  /** The key that sessions are sealed with, made when it is not there: all pods have it, and nobody else. */
  async #makeSessionKey({ metadata }: ApiObject, gateway: ApiObject): Promise<void> {
    const name = `${metadata.name}-session-key`;
    const key = `${metadata.namespace}/${name}`;
    // An object of an earlier Gateway with this name is deleted with it, and then missing.
    if (this.#settings.hasSecret(key)) return;
    const { apiVersion, kind } = gateway;
    const owner = { apiVersion, kind, name: gateway.metadata.name, uid: gateway.metadata.uid };
    const { status, body } = await this.#settings.api.request({
      method: "POST",
      path: `/api/v1/namespaces/${metadata.namespace}/secrets`,
      body: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: metadata.namespace, ownerReferences: [owner] },
        stringData: { key: randomBytes(KEY_BYTES).toString("hex") },
      },
    });
    if (status >= 300 && status !== 409)
      throw new Error(`Secret ${key} was refused (${status}): ${textField(body, "message") ?? ""}`);
  }

  async #read(path: string): Promise<unknown> {
    const { status, body } = await this.#settings.api.request({ method: "GET", path });
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`${path} has status ${status}`);
    return body;
  }
}

/** HTTP 404: it is gone already. */
const MISSING = 404;
/** HTTP 409: it is not as it was, which the watch brings. */
const CONFLICT = 409;
/** AES-256. */
const KEY_BYTES = 32;

/**
 * Returns a mark that changes if somebody changes an object: statuses change its version, but not its generation; nor
 * do labels.
 */
function markOf(object: unknown): string {
  const { generation, resourceVersion, labels, annotations, ownerReferences } =
    recordOf(recordOf(object)?.metadata) ?? {};
  return JSON.stringify([generation ?? resourceVersion, labels, annotations, ownerReferences]);
}

function isOwnedBy(object: unknown, gateway: ApiObject): boolean {
  return itemsField(recordOf(object)?.metadata, "ownerReferences").some(
    (each) => textField(each, "uid") === gateway.metadata.uid,
  );
}

/** Objects are compared by what their metadata say. */
function withoutContent({ apiVersion, kind, metadata }: ApiObject): ApiObject {
  const { managedFields: _, ...kept } = recordOf(metadata) ?? {};
  return { apiVersion, kind, metadata: { ...kept, name: metadata.name } };
}

/** The objects that run a Gateway, as its own: they end with it. */
function wantedObjects(objects: readonly Json[], gateway: ApiObject): readonly ApiObject[] {
  const { name, uid } = gateway.metadata;
  const owner = {
    ...{ apiVersion: gateway.apiVersion, kind: gateway.kind, name, uid },
    ...{ controller: true, blockOwnerDeletion: true },
  };
  return objects.flatMap((value) => {
    const type = ownedTypes.find(
      (each) =>
        each.kind === textField(value, "kind") &&
        apiVersionOf(each) === textField(value, "apiVersion"),
    );
    const given = recordOf(recordOf(value)?.metadata);
    // Overlays cannot remove this label: unmarked objects are not watched.
    const labels = { ...recordOf(given?.labels), ...OWNED };
    const metadata = { ...given, labels, ownerReferences: [owner] };
    const object = type && readObject({ ...recordOf(value), metadata }, type);
    return object ?? [];
  });
}

function owned(group: string, version: string, kind: string, plural: string): ResourceType {
  return { group, version, kind, plural, isNamespaced: true };
}
