import { get } from "node:http";
import path from "node:path";
import { atEnd } from "./at-end.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";
import { pause } from "./pause.ts";
import { LOGS_PORT, PodLogs } from "./pod-logs.ts";
import { NODE_ADDRESS, type PodNetwork } from "./pod-network.ts";
import { type Container, MissingObject, mountsOf, type Pod } from "./pod-volumes.ts";
import { TestProcess } from "./test-process.ts";

/** How a node runs its pods. */
export interface KubeletSettings {
  readonly network: PodNetwork;
  /** The command that replaces an image; `undefined` if the pod only counts as running, and nothing is started. */
  readonly commandOf: (image: string) => readonly string[] | undefined;
  /** A folder that gets what each pod prints. */
  readonly logs: string;
  /** Whether pods get the time to end that they ask for; else they end at once. */
  readonly isPolite?: boolean;
}

/** A running pod. */
interface RunningPod {
  readonly pod: Pod;
  readonly network: string;
  readonly address: string;
  readonly processes: readonly TestProcess[];
  isReady: boolean;
  isEnding: boolean;
}

/** Addresses that load balancers give to Services that ask for them begin so. */
export const STATIC_ADDRESSES = "10.244.200.";

const NODE = "process-node";
/** Milliseconds between two looks, and looks between two signs of life of the node. */
const INTERVAL = 200;
const SIGN_OF_LIFE = 25;
/** Capacity of each image's container: more than requested. */
const CAPACITY = { cpu: "64", memory: "256Gi", pods: "500" };

/**
 * A node whose pods are processes, each in a network of its own: what stands for a container's image is started with the
 * pod's arguments, variables and volumes. Load balancers of Services have the address of their first ready pod, or those of
 * `STATIC_ADDRESSES` that a Service asks for.
 */
export class ProcessKubelet {
  readonly #api: KubernetesApi;
  readonly #settings: KubeletSettings;
  readonly #logs: PodLogs;
  readonly #running: Map<string, RunningPod> = new Map();
  #isStopped = false;

  constructor(api: KubernetesApi, settings: KubeletSettings) {
    this.#api = api;
    this.#settings = settings;
    this.#logs = new PodLogs(settings.logs, NODE_ADDRESS);
    void this.#work();
    atEnd(() => {
      this.#isStopped = true;
    });
  }

  async #work(): Promise<void> {
    for (let look = 0; !this.#isStopped; look++) {
      this.#logs.mark();
      try {
        if (look % SIGN_OF_LIFE === 0) await this.#live();
        await this.#followPods();
        await this.#followServices();
      } catch (error) {
        // The API server may be away for a while.
        console.error(error);
      }
      await pause(INTERVAL);
    }
  }

  async #live(): Promise<void> {
    await this.#api.ask("POST", "/api/v1/nodes", { metadata: { name: NODE } });
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const ready = { type: "Ready", status: "True", reason: "KubeletReady" };
    const conditions = [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }];
    await this.#patch(`/api/v1/nodes/${NODE}/status`, {
      status: {
        ...{ capacity: CAPACITY, allocatable: CAPACITY, conditions },
        addresses: [{ type: "InternalIP", address: NODE_ADDRESS }],
        daemonEndpoints: { kubeletEndpoint: { Port: LOGS_PORT } },
      },
    });
  }

  async #followPods(): Promise<void> {
    const { body } = await this.#api.ask(
      "GET",
      `/api/v1/pods?fieldSelector=spec.nodeName%3D${NODE}`,
    );
    const pods: readonly Pod[] = body.items;
    const found = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const { metadata } of pods.filter((each) => each.metadata.deletionTimestamp !== undefined))
      await this.#end(metadata);
    for (const [uid, each] of this.#running) if (!found.has(uid)) await this.#stop(uid, each);
    for (const pod of pods)
      if (!this.#running.has(pod.metadata.uid) && pod.metadata.deletionTimestamp === undefined)
        await this.#start(pod);
    for (const each of this.#running.values()) await this.#report(each);
  }

  /** Ends a pod that is to be deleted, which is then gone. */
  async #end(metadata: Pod["metadata"]): Promise<void> {
    const remove = () => this.#api.ask("DELETE", `${pathOf(metadata)}?gracePeriodSeconds=0`);
    const running = this.#running.get(metadata.uid);
    if (this.#settings.isPolite !== true || running === undefined) {
      await remove();
      return;
    }
    if (running.isEnding) return;
    running.isEnding = true;
    void Promise.all(running.processes.map((each) => each.stop())).then(remove);
  }

  async #start(pod: Pod): Promise<void> {
    const started = pod.spec.containers.flatMap((container) => {
      const command = this.#settings.commandOf(container.image);
      return command === undefined ? [] : [{ container, command }];
    });
    const mounted = await Promise.all(
      started.map(({ container }) => mountsOf(pod, container, this.#api)),
    ).catch((error) => {
      if (error instanceof MissingObject) return undefined;
      throw error;
    });
    // A pod waits for its Secrets and ConfigMaps.
    if (mounted === undefined) return;
    const { name: network, address } = this.#settings.network.add();
    const processes: TestProcess[] = [];
    for (const [index, { container, command }] of started.entries()) {
      const mounts = mounted[index] ?? [];
      const log = path.join(this.#settings.logs, `${pod.metadata.name}.log`);
      const script = mounts.map(([from, to]) => `mkdir -p ${to} && mount --bind ${from} ${to} && `);
      processes.push(
        new TestProcess(
          "ip",
          [
            ...[
              "netns",
              "exec",
              network,
              "sh",
              "-c",
              `${script.join("")}exec "$@" >>${log} 2>&1`,
              "sh",
            ],
            ...[...command, ...(container.args ?? [])],
          ],
          { env: variablesOf(pod, container, address) },
        ),
      );
    }
    const state = { isReady: false, isEnding: false };
    this.#running.set(pod.metadata.uid, { pod, network, address, processes, ...state });
  }

  async #stop(uid: string, { processes, network }: RunningPod): Promise<void> {
    this.#running.delete(uid);
    for (const each of processes) await each.stop("SIGKILL");
    this.#settings.network.remove(network);
  }

  /** Marks a pod as running, and as ready once its probes succeed. */
  async #report(running: RunningPod): Promise<void> {
    const { pod, address } = running;
    if (running.isReady) return;
    const probes = pod.spec.containers.flatMap(({ image, readinessProbe }) =>
      this.#settings.commandOf(image) === undefined ? [] : (readinessProbe?.httpGet ?? []),
    );
    for (const { path: url, port } of probes)
      if (!(await isAnswered(`http://${address}:${port}${url}`))) return;
    const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status: "True" }));
    await this.#patch(`${pathOf(pod.metadata)}/status`, {
      status: { phase: "Running", podIP: address, podIPs: [{ ip: address }], conditions },
    });
    running.isReady = true;
  }

  async #followServices(): Promise<void> {
    const { body } = await this.#api.ask("GET", "/api/v1/services");
    for (const { metadata, spec, status } of body.items) {
      if (spec.type !== "LoadBalancer") continue;
      const asked = askedAddresses(metadata.annotations, spec.loadBalancerIP);
      const before = status.loadBalancer?.ingress?.map(({ ip }: { ip: string }) => ip);
      if (asked.length === 0 && before !== undefined) continue;
      const selector: Readonly<Record<string, string>> = spec.selector ?? {};
      const ready = [...this.#running.values()].find(
        ({ pod, isReady }) =>
          isReady &&
          pod.metadata.namespace === metadata.namespace &&
          Object.entries(selector).every(([name, value]) => pod.metadata.labels?.[name] === value),
      );
      const usable = asked.filter((each) => each.startsWith(STATIC_ADDRESSES));
      for (const each of ready === undefined ? [] : usable)
        this.#settings.network.assign(ready?.network ?? "", each);
      const given = asked.length > 0 ? usable : ready && [ready.address];
      if (given === undefined || given.length === 0 || given.join() === before?.join()) continue;
      await this.#patch(
        `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}/status`,
        { status: { loadBalancer: { ingress: given.map((ip) => ({ ip })) } } },
      );
    }
  }

  async #patch(url: string, body: unknown): Promise<void> {
    await this.#api.ask("PATCH", url, body, "application/merge-patch+json");
  }
}

/** The addresses that a Service asks its load balancer for, as Cilium's has it. */
function askedAddresses(
  annotations: Readonly<Record<string, string>> | undefined,
  loadBalancerIP: string | undefined,
): readonly string[] {
  const several = annotations?.["lbipam.cilium.io/ips"]?.split(",");
  return several ?? (loadBalancerIP === undefined ? [] : [loadBalancerIP]);
}

function variablesOf(
  { metadata }: Pod,
  { env = [] }: Container,
  address: string,
): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string>> = {
    "status.podIP": address,
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
  };
  return Object.fromEntries(
    env.flatMap(({ name, value, valueFrom }) => {
      const given = value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ""];
      return given === undefined ? [] : [[name, given]];
    }),
  );
}

function pathOf({ namespace, name }: Pod["metadata"]): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Whether a probe has status 200. */
function isAnswered(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = get(url, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.setTimeout(1000, () => sent.destroy());
    sent.on("error", () => resolve(false));
  });
}
