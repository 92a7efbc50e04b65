import { setTimeout as pause } from "node:timers/promises";
import type { ApiObject } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { textField } from "../kubernetes/json-fields.ts";
import { POD, type PodListener } from "../kubernetes/pod-type.ts";
import { Reflector } from "../kubernetes/reflector.ts";

/** What Istio's injector writes on the pods that its sidecar is in. */
const LABELS = "security.istio.io/tlsMode=istio";
/** Milliseconds that Gateways wait until the pods of their mesh are known; without them nothing in it is called. */
const LONGEST_WAIT = 5_000;
/** Nobody's account: a pod of which it is not known whether it is in the mesh is not called unencrypted. */
const NOBODY = "/";

/** The pods that are in a mesh, and as whom, kept in step with the API server once somebody asks for them. */
export class MeshPods {
  readonly #api: ApiServer;
  readonly #listener: PodListener;
  #reflector: Reflector | undefined;
  #followed: Promise<void> | undefined;
  #version = 0;

  constructor(api: ApiServer, listener: PodListener) {
    this.#api = api;
    this.#listener = listener;
  }

  /** Follows them from now on; resolves when they are known, or that takes too long. */
  follow(): Promise<void> {
    this.#followed ??= this.#follow();
    return this.#followed;
  }

  /** Another one each time that any answer of `accountOf` may have changed. */
  get version(): number {
    return this.#version;
  }

  /** `NAMESPACE/ACCOUNT` of a pod, by its `NAMESPACE/NAME`; undefined: it is in no mesh. */
  accountOf(pod: string): string | undefined {
    if (this.#reflector === undefined || this.#reflector.lists === 0) return NOBODY;
    const found = this.#reflector.objects.get(pod);
    return found && `${found.metadata.namespace}/${accountName(found)}`;
  }

  stop(): void {
    this.#reflector?.stop();
  }

  async #follow(): Promise<void> {
    const reflector: Reflector = new Reflector(this.#api, {
      type: POD,
      labelSelector: LABELS,
      keep: ({ apiVersion, kind, metadata, spec }) => {
        const { name, namespace = "", resourceVersion = "" } = metadata;
        const serviceAccountName = textField(spec, "serviceAccountName");
        return {
          apiVersion,
          kind,
          metadata: { name, namespace, resourceVersion },
          spec: { serviceAccountName },
        };
      },
      changed: (key, before) => {
        const now = reflector.objects.get(key);
        // What else a pod does is nobody's business.
        if (now !== undefined && before !== undefined && accountName(now) === accountName(before))
          return;
        this.#changed();
      },
      warn: this.#listener.warn,
    });
    this.#reflector = reflector;
    const known = reflector.synced.then(() => this.#changed());
    await Promise.race([known, pause(LONGEST_WAIT, undefined, { ref: false })]);
  }

  #changed(): void {
    this.#version += 1;
    this.#listener.changed();
  }
}

function accountName({ spec }: ApiObject): string {
  return textField(spec, "serviceAccountName") ?? "default";
}
