import type { DeploymentNode, PodSocket } from "../../compiler/ir/deployment.ts";
import type { Program } from "../../compiler/ir/program.ts";
import type { Json } from "../../compiler/model/json.ts";
import { sealedBy } from "../backends/index.ts";
import { servicePort } from "../code/service-port.ts";
import { clientPorts } from "../modules/client-ports.ts";
import { persistedState } from "../modules/persisted-state.ts";
import { templateOf } from "../policies/index.ts";
import { meshPod } from "./mesh-pod.ts";
import { GATEWAY_CONTAINER, selectorLabels, withOwnLabels } from "./names.ts";
import type { AgentPodSettings, KubernetesSettings } from "./settings.ts";
import { isObject } from "./strategic-merge.ts";

/** Seconds between the drain's deadline and the kubelet's kill. */
const KILL_MARGIN = 5;
/** A user without rights, who owns nothing in the image. */
const USER = 10101;
/** Image that runs a bundle from a ConfigMap. */
const NODE_IMAGE = "node:24-slim";

/** Unpacks the bundle of the ConfigMap, which unpacked would exceed the size limit of a ConfigMap. */
const UNPACK =
  "require('fs').writeFileSync('/bundle/gateway.mjs'," +
  "require('zlib').gunzipSync(require('fs').readFileSync('/packed/gateway.mjs.gz')))";

/** Folder of the state that survives a restart of the container. */
const STATE_DIR = "/var/lib/gwc";

/** Returns the pods of a gateway: restricted pod security, a read-only root, probes on readiness, Secrets as files. */
export function podTemplate(
  program: Program,
  deployment: DeploymentNode,
  { image, digest, agent }: KubernetesSettings,
): Json {
  const { drain, addresses, workers } = program.process;
  const stats = servicePort(addresses.stats);
  const isPacked = image === undefined;
  const spec: Json = {
    serviceAccountName: deployment.name,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: Math.ceil(drain.max / 1000) + KILL_MARGIN,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: "RuntimeDefault" },
      sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
    },
    ...(isPacked ? { initContainers: [unpackContainer(deployment)] } : {}),
    containers: [gatewayContainer(program, deployment, image, agent)],
    volumes: [
      { name: "tmp", emptyDir: {} },
      ...(agent === undefined ? [] : agentVolumes(deployment, agent)),
      ...meshPod(program.mesh).volumes,
      ...(deployment.socket === undefined ? [] : [socketVolume(deployment.socket)]),
      ...(persistedState(program) !== undefined ? [{ name: "state", emptyDir: {} }] : []),
      ...(isPacked
        ? [
            { name: "bundle", emptyDir: {} },
            {
              name: "packed",
              configMap: { name: `${deployment.name}-bundle` },
            },
          ]
        : []),
      // A controller that sends the code also sends its Secrets.
      ...(agent === undefined ? mountsOf(deployment) : []).map(({ volume }) => volume),
    ],
  };
  return {
    metadata: {
      labels: withOwnLabels(deployment.labels, selectorLabels(deployment)),
      annotations: {
        // Received code changes without new pods, unless it changes between one thread and several.
        ...(agent === undefined ? { "gwc.dev/bundle": digest } : {}),
        ...(agent !== undefined && workers !== undefined ? { "gwc.dev/threads": "several" } : {}),
        ...(stats === undefined ? {} : scraped(stats)),
        ...deployment.annotations,
      },
    },
    spec,
  };
}

/** Security context of every container: no rights beyond its memory and mounts (Pod Security Standards, restricted). */
const SECURITY: Json = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

function unpackContainer({ pullPolicy }: DeploymentNode): Json {
  return {
    name: "unpack",
    image: NODE_IMAGE,
    ...(pullPolicy ? { imagePullPolicy: pullPolicy } : {}),
    command: ["node", "-e", UNPACK],
    securityContext: SECURITY,
    volumeMounts: [
      { name: "packed", mountPath: "/packed", readOnly: true },
      { name: "bundle", mountPath: "/bundle" },
    ],
  };
}

/** Annotations with which Prometheus finds the metrics. */
function scraped(port: number): Readonly<Record<string, string>> {
  return {
    "prometheus.io/scrape": "true",
    "prometheus.io/path": "/metrics",
    "prometheus.io/port": String(port),
  };
}

/** Returns the probes of the readiness page; none if it is off. */
function probesOf(port: number | undefined): Readonly<Record<string, Json>> {
  if (port === undefined) return {};
  const probe = { httpGet: { path: "/healthz/ready", port } };
  return {
    readinessProbe: { ...probe, periodSeconds: 10 },
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 60 },
  };
}

function gatewayContainer(
  program: Program,
  deployment: DeploymentNode,
  image: string | undefined,
  agent: AgentPodSettings | undefined,
): Json {
  const { binds, process } = program;
  const { addresses, drain } = process;
  const stats = servicePort(addresses.stats);
  const grace = Math.ceil(drain.max / 1000) + KILL_MARGIN;
  const defaults: readonly Json[] = [
    // Expressions read them as env.podName and env.namespace.
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
    { name: "CONNECTION_MIN_TERMINATION_DEADLINE", value: `${drain.min / 1000}s` },
    { name: "TERMINATION_GRACE_PERIOD_SECONDS", value: String(grace) },
  ];
  const resources = deployment.resources ?? DEFAULT_RESOURCES;
  const pullPolicy = deployment.pullPolicy ?? agent?.pullPolicy;
  const hasState = persistedState(program) !== undefined;
  const mesh = meshPod(program.mesh);
  return {
    name: GATEWAY_CONTAINER,
    image: image ?? NODE_IMAGE,
    ...(pullPolicy ? { imagePullPolicy: pullPolicy } : {}),
    ...(image === undefined ? { command: ["node", "/bundle/gateway.mjs"] } : {}),
    ...(agent === undefined ? {} : { args: ["agent"] }),
    env: withOverrides(
      [
        ...defaults,
        ...sessionKey(binds, deployment),
        ...(hasState ? [{ name: "GWC_STATE_DIR", value: STATE_DIR }] : []),
        ...(agent === undefined ? [] : agentVariables(agent)),
        ...mesh.variables,
      ],
      deployment.env,
    ),
    ports: [
      // Container ports are informational. Received code may open others without new pods.
      ...(agent === undefined ? clientPorts(program) : []).map((port) => ({
        name: `listener-${port}`,
        containerPort: port,
      })),
      ...(stats === undefined ? [] : [{ name: "metrics", containerPort: stats }]),
    ],
    ...probesOf(servicePort(addresses.readiness)),
    resources,
    securityContext: SECURITY,
    volumeMounts: [
      { name: "tmp", mountPath: "/tmp" },
      ...(hasState ? [{ name: "state", mountPath: STATE_DIR }] : []),
      ...(image === undefined ? [{ name: "bundle", mountPath: "/bundle", readOnly: true }] : []),
      ...(agent === undefined
        ? mountsOf(deployment).map(({ mount }) => mount)
        : agentMounts(agent)),
      ...mesh.mounts,
      ...(deployment.socket === undefined
        ? []
        : [{ name: SOCKET, mountPath: deployment.socket.mountPath, readOnly: true }]),
    ],
  };
}

/** Default CPU request. A HorizontalPodAutoscaler measures CPU relative to the request, and nothing without one. */
const DEFAULT_RESOURCES = { requests: { cpu: "100m", memory: "128Mi" } };

/** Name of the volume with the socket of the SPIFFE Workload API. */
const SOCKET = "spiffe-workload-api";

function socketVolume({ source }: PodSocket): Json {
  return source.kind === "csi"
    ? { name: SOCKET, csi: { driver: source.driver, readOnly: true } }
    : { name: SOCKET, hostPath: { path: source.path, type: "Directory" } };
}

/** A mounted object: its volume, and its mount in the container. */
interface Mount {
  readonly volume: Json;
  readonly mount: Json;
}

/** Returns the volumes and mounts of Secrets and ConfigMaps. */
function mountsOf({ secrets, configMaps }: DeploymentNode): readonly Mount[] {
  const ofSecrets = volumeNames("secret", secrets).map(
    ([secretName, name]): Mount => ({
      volume: { name, secret: { secretName, defaultMode: 0o440 } },
      mount: { name, mountPath: `/etc/gwc/secrets/${secretName}`, readOnly: true },
    }),
  );
  const ofConfigMaps = volumeNames("config-map", configMaps).map(
    ([map, name]): Mount => ({
      volume: { name, configMap: { name: map } },
      mount: { name, mountPath: `/etc/gwc/config-maps/${map}`, readOnly: true },
    }),
  );
  return [...ofSecrets, ...ofConfigMaps];
}

/**
 * Returns each object's name with that of its volume. Volume names are DNS labels, so two names may collide and need
 * a number.
 */
function volumeNames(
  kind: string,
  names: readonly string[],
): readonly (readonly [string, string])[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const label = `${kind}-${name.replaceAll(".", "-")}`.slice(0, 60).replace(/-+$/, "");
    let volume = label;
    for (let count = 2; taken.has(volume); count++) volume = `${label}-${count}`;
    taken.add(volume);
    return [name, volume];
  });
}

/**
 * Returns the variable with the key of sessions. Sessions survive a change of the pod only if all pods have the same
 * key. The output does not contain it: create the Secret to run several pods; without it, each pod has a key of its
 * own.
 */
function sessionKey(binds: Program["binds"], { name }: DeploymentNode): readonly Json[] {
  const routes = binds.flatMap(({ listeners }) => listeners.flatMap((each) => each.routes));
  const hasSessions = routes.some(
    ({ backends, policies }) =>
      backends.some((node) => sealedBy(node) !== undefined) ||
      policies.some(({ kind }) => templateOf(kind).hasSessions === true),
  );
  if (!hasSessions) return [];
  const secret = { name: `${name}-session-key`, key: "key", optional: true };
  return [{ name: "SESSION_KEY", valueFrom: { secretKeyRef: secret } }];
}

/** Replaces default variables with those of the same name in the parameters. */
function withOverrides(defaults: readonly Json[], own: readonly Json[]): readonly Json[] {
  const all = new Map([...defaults, ...own].map((each) => [nameOf(each), each]));
  return [...all.values()].filter((each) => !isDeleted(each));
}

function nameOf(variable: Json): Json | undefined {
  return isObject(variable) ? variable.name : undefined;
}

function isDeleted(variable: Json): boolean {
  return isObject(variable) && variable.$patch === "delete";
}

/** Folders with an agent's token, its controller's CA certificates, and its received files. */
const TOKEN_DIR = "/var/run/secrets/xds-tokens";
const AUTHORITY_DIR = "/etc/gwc/xds-ca";
const AGENT_DIR = "/var/lib/gwc/agent";
/** Lifetime of a token in seconds; the kubelet renews it earlier. */
const TOKEN_TIME = 43_200;

/** Returns the environment variables that name the controller and the data plane of an agent. */
function agentVariables({
  address,
  gateway,
  authority,
  signer,
}: AgentPodSettings): readonly Json[] {
  return [
    { name: "XDS_ADDRESS", value: address },
    { name: "GATEWAY", value: gateway },
    { name: "GWC_SIGNER", value: signer },
    { name: "GWC_AGENT_DIR", value: AGENT_DIR },
    ...(authority === undefined ? [] : [{ name: "XDS_ROOT_CA", value: `${AUTHORITY_DIR}/ca.crt` }]),
  ];
}

/** Returns the volumes of an agent's pod. */
function agentVolumes(
  { name }: DeploymentNode,
  { audience, authority }: AgentPodSettings,
): readonly Json[] {
  const token = { audience, expirationSeconds: TOKEN_TIME, path: "xds-token" };
  return [
    // In memory, because it contains Secrets.
    { name: "agent", emptyDir: { medium: "Memory" } },
    { name: "xds-token", projected: { sources: [{ serviceAccountToken: token }] } },
    ...(authority === undefined ? [] : [{ name: "xds-ca", configMap: { name: `${name}-xds-ca` } }]),
  ];
}

/** Returns the mounts of these volumes. */
function agentMounts({ authority }: AgentPodSettings): readonly Json[] {
  return [
    { name: "agent", mountPath: AGENT_DIR },
    { name: "xds-token", mountPath: TOKEN_DIR, readOnly: true },
    ...(authority === undefined
      ? []
      : [{ name: "xds-ca", mountPath: AUTHORITY_DIR, readOnly: true }]),
  ];
}
