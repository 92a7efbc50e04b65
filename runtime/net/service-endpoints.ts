/** An address and port of a pod; `NAMESPACE/ACCOUNT` of one that takes the mutual TLS of a mesh. */
export type PodAddress = readonly [host: string, port: number, account?: string];

/** `host:port`; an address of IPv6 in brackets. */
export function endpointName([host, port]: PodAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * The pods behind Services, by `NAME.NAMESPACE.svc...:PORT`, where a controller says which they are: connections go to them
 * without asking DNS. Empty in a process that no controller tells anything: names are looked up.
 */
const known: Map<string, readonly PodAddress[]> = new Map();

/** Says which pods are ready for a Service's port (`NAMESPACE/NAME:PORT`, `pool/NAMESPACE/NAME:PORT`); undefined: nobody knows. */
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

/** A connection, as far as it is followed here. A socket is one. */
interface PodConnection {
  once(event: "close", listener: () => void): unknown;
}

/** A pod by its address, and as whom it is known in the mesh: as somebody else it is another one. */
function identityOf(pod: PodAddress, account = ""): string {
  return `${endpointName(pod)} ${account}`;
}

/** Open connections to pods, by the Service's port and who the pod is. */
const connected = new Map<string, Map<string, Set<PodConnection>>>();

const goneHandlers = new WeakMap<PodConnection, () => void>();

/** Says that a connection leads to a pod of the Service that a host names. */
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

/** Calls back when the pod of a connection is none of its Service's any more, which may be never. */
export function oncePodIsGone(connection: PodConnection, callback: () => void): void {
  // Without pods that anybody tells of none can go.
  if (connected.size > 0) goneHandlers.set(connection, callback);
}

/**
 * Where the next connection to a host goes: to any pod of the Service that it names, as it does through the Service's own
 * address, but to none of `tried`. Undefined: nothing is known of such a Service, or no other pod of it is ready.
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

/** All pods of the Service that a host names; undefined: nothing is known of such a Service. */
export function podsOf(host: string, port: number): readonly PodAddress[] | undefined {
  const service = known.size === 0 ? undefined : servicePortOf(host, port);
  return service === undefined ? undefined : known.get(service);
}

/** The Service that a host names, as controllers do; undefined: it names none. */
function servicePortOf(host: string, port: number): string | undefined {
  const [, name, namespace, kind] = PODS.exec(host) ?? [];
  if (name === undefined) return undefined;
  return `${kind === "pool" ? "pool/" : ""}${namespace}/${name}:${port}`;
}

/** `NAMESPACE/ACCOUNT` of a pod of the Service that a host names, as it is now; undefined: it takes no mutual TLS. */
export function meshAccountOf(host: string, port: number, pod: PodAddress): string | undefined {
  const known = podsOf(host, port)?.find((each) => each[0] === pod[0] && each[1] === pod[1]);
  return (known ?? pod)[2];
}

/** The name of a Service in the DNS of Kubernetes, or one of the same form that stands for an InferencePool. */
const PODS = /^([a-z0-9.-]+)\.([a-z0-9-]+)\.(svc|pool)(?:\.|$)/;
