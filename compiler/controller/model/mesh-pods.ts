import { setTimeout as pause } from "node:timers/promises";
import type { ApiObject } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { textField } from "../kubernetes/json-fields.ts";
import { POD, type PodListener } from "../kubernetes/pod-type.ts";
import { Reflector } from "../kubernetes/reflector.ts";

/** Label that Istio's injector writes on pods with its sidecar. */
const LABELS = "security.istio.io/tlsMode=istio";
/** Label that marks a namespace, or a pod in spite of it, as part of a mesh without sidecars (`ambient`), or of no mesh. */
const MODE = "istio.io/dataplane-mode";
/** Milliseconds that Gateways wait until the pods of their mesh are known; without them nothing in it is called. */
const MAX_WAIT = 5_000;
/** Nobody's account: a pod of which it is not known whether it is in the mesh is not called unencrypted. */
const NOBODY = "/";

/** Nobody's account, too: that of a pod whose mesh takes HBONE, which is not spoken here, and no plain text instead. */
export const HBONE_ACCOUNT = "/hbone";

/** The pods that are in a mesh, and as whom, kept in step with the API server once somebody asks for them. */
export class MeshPods {
  readonly #api: ApiServer;
  readonly #listener: PodListener;
  readonly #labelsOf: (namespace: string) => Labels;
  #sidecars: Reflector | undefined;
  /** Pods that say themselves of which kind their mesh is. */
  #modes: Reflector | undefined;
  #followed: Promise<void> | undefined;
  #version = 0;

  /** `labelsOf` gives those of a namespace as they are now. */
  constructor(api: ApiServer, listener: PodListener, labelsOf: (namespace: string) => Labels) {
    this.#api = api;
    this.#listener = listener;
    this.#labelsOf = labelsOf;
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

  /** Returns the `NAMESPACE/ACCOUNT` of a pod by its `NAMESPACE/NAME`; `undefined` if it is in no mesh. */
  accountOf(pod: string): string | undefined {
    const [sidecars, modes] = [this.#sidecars, this.#modes];
    if (sidecars === undefined || modes === undefined) return NOBODY;
    if (sidecars.lists === 0 || modes.lists === 0) return NOBODY;
    const found = sidecars.objects.get(pod);
    if (found !== undefined) return `${found.metadata.namespace}/${accountName(found)}`;
    const labels = this.#labelsOf(pod.slice(0, pod.indexOf("/")));
    const mode = modeOf(modes.objects.get(pod)) ?? labels?.[MODE];
    return mode === "ambient" ? HBONE_ACCOUNT : undefined;
  }

  stop(): void {
    this.#sidecars?.stop();
    this.#modes?.stop();
  }

  async #follow(): Promise<void> {
    this.#sidecars = this.#reflector(LABELS, accountName);
    this.#modes = this.#reflector(MODE, modeOf);
    const all = [this.#sidecars, this.#modes];
    const known = Promise.all(all.map(({ synced }) => synced)).then(() => this.#changed());
    await Promise.race([known, pause(MAX_WAIT, undefined, { ref: false })]);
  }

  /** Follows the pods of a selector, reduced by `read` to the fields that matter. */
  #reflector(labelSelector: string, read: (pod: ApiObject) => string | undefined): Reflector {
    const reflector: Reflector = new Reflector(this.#api, {
      type: POD,
      labelSelector,
      keep: ({ apiVersion, kind, metadata, spec }) => {
        const { name, namespace = "", resourceVersion = "", labels } = metadata;
        const mode = labels?.[MODE];
        const kept = mode === undefined ? {} : { labels: { [MODE]: mode } };
        const serviceAccountName = textField(spec, "serviceAccountName");
        return {
          apiVersion,
          kind,
          metadata: { name, namespace, resourceVersion, ...kept },
          spec: { serviceAccountName },
        };
      },
      changed: (key, before) => {
        const now = reflector.objects.get(key);
        if (now !== undefined && before !== undefined && read(now) === read(before)) return;
        this.#changed();
      },
      warn: this.#listener.warn,
    });
    return reflector;
  }

  #changed(): void {
    this.#version += 1;
    this.#listener.changed();
  }
}

function accountName({ spec }: ApiObject): string {
  return textField(spec, "serviceAccountName") ?? "default";
}

function modeOf(pod: ApiObject | undefined): string | undefined {
  return pod?.metadata.labels?.[MODE];
}

type Labels = ApiObject["metadata"]["labels"] | undefined;
