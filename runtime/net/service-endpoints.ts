/** Address and port of a pod; with `NAMESPACE/ACCOUNT` if it takes the mutual TLS of a mesh. */
export type PodAddress = readonly [host: string, port: number, account?: string];

/** Formats `host:port`; IPv6 addresses in brackets. */
export function endpointName([host, port]: PodAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Pods of Services by `NAMESPACE/NAME:PORT`, as a controller reports them. Connections go to them without DNS. Empty if no
 * controller reports to this process: names are then looked up.
 */
const known: Map<string, readonly PodAddress[]> = new Map();

/**
 * Sets the ready pods of a Service's port (`NAMESPACE/NAME:PORT`, `pool/NAMESPACE/NAME:PORT`); `undefined` if they are unknown.
 */
export function setEndpoints(port: string, pods: readonly PodAddress[] | undefined): void {
  if (pods === undefined) {
    known.delete(port);
    return;
  }
  known.set(port, pods);
  const left = new Set(pods.map((pod) => identityOf(pod, pod[2])));
  for (const [pod, connections] of connected.get(port) ?? []) {
    if (left.has(pod)) continue;
    for (const each of [...connections]) goneHandlers.get(each)?.();
  }
}

/** A connection to a pod, such as a socket. */
interface PodConnection {
  once(event: "close", listener: () => void): unknown;
}

/** Identifies a pod by address and mesh account: with another account it is another pod. */
function identityOf(pod: PodAddress, account = ""): string {
  return `${endpointName(pod)} ${account}`;
}

/** Open connections to pods, by the Service's port and the pod's identity. */
const connected = new Map<string, Map<string, Set<PodConnection>>>();

const goneHandlers = new WeakMap<PodConnection, () => void>();

/** Records that a connection leads to a pod of the Service that a host names. */
export function connectedTo(
  host: string,
  port: number,
  pod: PodAddress,
  connection: PodConnection,
): void {
  const service = servicePortOf(host, port);
  if (service === undefined) return;
  const pods = connected.get(service) ?? new Map<string, Set<PodConnection>>();
  connected.set(service, pods);
  const name = identityOf(pod, meshAccountOf(host, port, pod));
  const connections = pods.get(name) ?? new Set();
  pods.set(name, connections.add(connection));
  connection.once("close", () => {
    connections.delete(connection);
    if (connections.size === 0 && pods.get(name) === connections) pods.delete(name);
    if (pods.size === 0 && connected.get(service) === pods) connected.delete(service);
  });
}

/** Calls back when the pod of a connection no longer belongs to its Service, which may never happen. */
export function oncePodIsGone(connection: PodConnection, callback: () => void): void {
  // Without connections to known pods, no pod can leave.
  if (connected.size > 0) goneHandlers.set(connection, callback);
}

/**
 * Chooses a pod of the Service that a host names, at random as the Service's own address does, but none of `tried`. Returns
 * `undefined` if the Service is unknown or has no other ready pod.
 */
export function podOf(
  host: string,
  port: number,
  tried: readonly PodAddress[],
): PodAddress | undefined {
  const all = podsOf(host, port);
  const pods = tried.length === 0 ? all : all?.filter((pod) => !tried.includes(pod));
  return pods?.[Math.floor(Math.random() * pods.length)];
}

/** Returns all pods of the Service that a host names; `undefined` if the Service is unknown. */
export function podsOf(host: string, port: number): readonly PodAddress[] | undefined {
  const service = known.size === 0 ? undefined : servicePortOf(host, port);
  return service === undefined ? undefined : known.get(service);
}

/** Returns the key of the Service that a host names; `undefined` if it names none. */
function servicePortOf(host: string, port: number): string | undefined {
  const [, name, namespace, kind] = PODS.exec(host) ?? [];
  if (name === undefined) return undefined;
  return `${kind === "pool" ? "pool/" : ""}${namespace}/${name}:${port}`;
}

/** Returns the current `NAMESPACE/ACCOUNT` of a pod; `undefined` if it takes no mutual TLS. */
export function meshAccountOf(host: string, port: number, pod: PodAddress): string | undefined {
  const known = podsOf(host, port)?.find((each) => each[0] === pod[0] && each[1] === pod[1]);
  return (known ?? pod)[2];
}

/** DNS name of a Service in Kubernetes, or a name of the same form for an InferencePool. */
const PODS = /^([a-z0-9.-]+)\.([a-z0-9-]+)\.(svc|pool)(?:\.|$)/;
