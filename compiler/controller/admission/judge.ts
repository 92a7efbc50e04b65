import { OUR_GROUPS, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { threadModule } from "../../installation.ts";
import { FairQueue } from "../fair-queue.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { BackgroundThread } from "../model/background-thread.ts";
import { isOurClass, ownerOf } from "../model/gateway-owner.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import type { JudgedObject, Judgement, NamedObject } from "./judgement.ts";

/** Work that waits for its turn. */
interface Waiting {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Runs tasks one after the other, those of each caller in turn. When too many wait, the newest one of the caller with
 * the most is refused.
 */
class FairTurns {
  readonly #max: number;
  readonly #waiting = new FairQueue<Waiting>();
  /** Number of waiting tasks, and of running ones. */
  #count = 0;
  #lastId = 0;
  #isBusy = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs a task in its turn. Rejects if the task does, or if it is refused. */
  async take<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#max) {
      const dropped = this.#waiting.dropNewest(caller);
      if (dropped === undefined) throw tooMany();
      dropped.refuse();
    }
    this.#count += 1;
    try {
      await new Promise<void>((start, reject) => {
        this.#lastId += 1;
        const refuse = () => reject(tooMany());
        this.#waiting.add(caller, String(this.#lastId), { start, refuse });
        if (!this.#isBusy) this.#next();
      });
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
    try {
      return await work();
    } finally {
      this.#count -= 1;
      this.#isBusy = false;
      this.#next();
    }
  }

  #next(): void {
    const [, next] = this.#waiting.take(() => true) ?? [];
    if (next === undefined) return;
    this.#isBusy = true;
    next.start();
  }
}

function tooMany(): Error {
  return new Error("too many objects are judged");
}

/** Objects that wait for their turn at most: more are left to the API server's failure policy. */
const MAX_WAITING = 100;

/** Judges objects one after the other, those of callers in turn, in a thread of its own: what takes too long holds up nothing else. */
export class Judge {
  readonly #objects: WatchedObjects;
  readonly #thread = new BackgroundThread<JudgedObject, Judgement>(
    threadModule("controller/admission/judge-worker"),
  );
  readonly #turns = new FairTurns(MAX_WAITING);

  constructor(objects: WatchedObjects) {
    this.#objects = objects;
  }

  /**
   * Judges an object; returns nothing if it belongs to another controller. Rejects if there is no result within some
   * milliseconds.
   */
  async judgement(
    judged: JudgedObject,
    time: number,
    caller: string,
  ): Promise<Judgement | undefined> {
    if (!isForUs(judged.object, this.#objects)) return undefined;
    const deadline = performance.now() + time;
    const judgement = await this.#turns.take(caller, () => this.#judged(judged, deadline));
    return { ...judgement, warnings: [...judgement.warnings, ...this.#missing(judgement)] };
  }

  stop(): void {
    this.#thread.stop();
  }

  async #judged(judged: JudgedObject, deadline: number): Promise<Judgement> {
    const left = deadline - performance.now();
    if (left <= 0) throw new Error("it was not judged in time");
    const timer = setTimeout(() => this.#thread.stop(), left);
    try {
      return await this.#thread.ask(judged);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Missing references: the objects may come later, so they are reported as warnings. */
  #missing({ references }: Judgement): readonly string[] {
    return references
      .filter((each) => !this.#isThere(each))
      .map(({ kind, key }) => `there is no ${kind} "${key}" yet`);
  }

  #isThere({ kind, key }: NamedObject): boolean {
    const names = [kind, ...(OTHER_NAMES[kind] ?? [])];
    return names.some((each) => this.#objects.find(each, key) !== undefined);
  }
}

/** Kinds that the API server has under other names, too. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  ListenerSet: ["XListenerSet"],
  GatewayBackend: ["AgentgatewayBackend"],
  GatewayModel: ["AgentgatewayModel"],
  GatewayPolicy: ["AgentgatewayPolicy"],
  GatewayParameters: ["AgentgatewayParameters"],
};

/**
 * Whether an object is for gwc's Gateways: kinds of the Gateway API belong to all controllers. An object with a missing
 * parent counts as ours if no other controller has a class.
 */
function isForUs(object: ApiObject, objects: WatchedObjects): boolean {
  const { apiVersion, kind, metadata, spec } = object;
  const { namespace = "" } = metadata;
  if (!objects.isRead(object)) return false;
  if (OUR_GROUPS.includes(splitApiVersion(apiVersion).group)) return true;
  switch (kind) {
    case "GatewayClass":
      return isOurClass(object);
    case "Gateway":
      return isOfOurClass(object, objects);
    case "ListenerSet":
    case "XListenerSet":
      return isOurParent(recordOf(spec)?.parentRef, namespace, objects);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
      return itemsField(spec, "parentRefs").some((each) => isOurParent(each, namespace, objects));
    default:
      return isAlone(objects);
  }
}

function isOurParent(reference: unknown, namespace: string, objects: WatchedObjects): boolean {
  const kind = textField(reference, "kind") ?? "Gateway";
  const key = `${textField(reference, "namespace") ?? namespace}/${textField(reference, "name")}`;
  if (kind === "Gateway") {
    const gateway = objects.find("Gateway", key);
    return gateway === undefined ? isAlone(objects) : isOfOurClass(gateway, objects);
  }
  // A route of a Service is a mesh's.
  if (kind !== "ListenerSet" && kind !== "XListenerSet") return false;
  const found = objects.find(kind, key);
  if (found === undefined) return isAlone(objects);
  const { parentRef } = recordOf(found.spec) ?? {};
  return isOurParent({ ...recordOf(parentRef), kind: "Gateway" }, namespaceOf(found), objects);
}

function isOfOurClass(gateway: ApiObject, objects: WatchedObjects): boolean {
  const owner = ownerOf(gateway, objects);
  return owner === "nobody's" ? isAlone(objects) : owner === "ours";
}

/** Whether there are classes, and all of them are ours. */
function isAlone(objects: WatchedObjects): boolean {
  const classes = [...objects.ofKind("GatewayClass")];
  return classes.length > 0 && classes.every(isOurClass);
}

function namespaceOf({ metadata }: ApiObject): string {
  return metadata.namespace ?? "";
}
