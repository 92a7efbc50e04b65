import { hostname } from "node:os";
import { CONTROLLER } from "../../status/conditions.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { RateBound } from "../operation/rate-bound.ts";

/** A condition that does not hold, and why. */
interface Mistake {
  readonly reason: string;
  readonly message: string;
}

/** The most Events at once, and how many more each second: statuses say everything, and many objects may break together. */
const BURST = 50;
const PER_SECOND = 1;
/** Bytes of an Event's note, and some less (events.k8s.io/v1: 1 kB). */
const MAX_NOTE = 1000;

/** Tells mistakes as Events (events.k8s.io/v1) of the objects that have them, each once while it stays. */
export class MistakeEvents {
  readonly #api: ApiServer;
  readonly #warn: (message: string) => void;
  readonly #bound = new RateBound(BURST, PER_SECOND);

  constructor(api: ApiServer, warn: (message: string) => void) {
    this.#api = api;
    this.#warn = warn;
  }

  /** Writes Events for mistakes that an object's new status has and its last one had not, up to a bound. */
  tell(object: ApiObject, before: unknown, after: unknown): void {
    const known = new Set(mistakesOf(before).map(({ message }) => message));
    for (const mistake of mistakesOf(after)) {
      if (known.has(mistake.message) || !this.#bound.take()) continue;
      known.add(mistake.message);
      void this.#send(object, mistake).catch((error) => this.#warn(`an Event: ${String(error)}`));
    }
  }

  async #send(
    { apiVersion, kind, metadata }: ApiObject,
    { reason, message }: Mistake,
  ): Promise<void> {
    // Those of objects without a namespace are kept in this one.
    const { name, namespace = "default", uid } = metadata;
    const response = await this.#api.request({
      method: "POST",
      path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      body: {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { generateName: `${name}-`, namespace },
        eventTime: new Date().toISOString().replace("Z", "000Z"),
        reportingController: CONTROLLER,
        reportingInstance: hostname(),
        type: "Warning",
        action: "Compile",
        reason,
        note: shortened(message),
        regarding: { apiVersion, kind, name, namespace: metadata.namespace, uid },
      },
    });
    if (response.status >= 300)
      this.#warn(`an Event of ${kind} ${name} was refused (${response.status})`);
  }
}

function shortened(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= MAX_NOTE) return message;
  return `${bytes.subarray(0, MAX_NOTE).toString("utf8")}...`;
}

/**
 * Returns the mistakes in the conditions of a status, its listeners and this controller's entries. Waiting is not a
 * mistake.
 */
function mistakesOf(status: unknown): readonly Mistake[] {
  const entries = ["parents", "ancestors"]
    .flatMap((list) => itemsField(status, list))
    .filter((each) => textField(each, "controllerName") === CONTROLLER);
  return [status, ...itemsField(status, "listeners"), ...entries]
    .flatMap((each) => itemsField(each, "conditions"))
    .flatMap((condition): readonly Mistake[] => {
      const { reason, message } = recordOf(condition) ?? {};
      const isMistake = textField(condition, "status") === "False" && reason !== "Pending";
      return isMistake &&
        typeof reason === "string" &&
        typeof message === "string" &&
        message !== ""
        ? [{ reason, message }]
        : [];
    });
}
