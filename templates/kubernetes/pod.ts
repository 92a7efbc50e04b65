import type { DeploymentNode } from "../../compiler/ir/deployment.ts";
import type { Program } from "../../compiler/ir/program.ts";
import type { Json } from "../../compiler/model/json.ts";
import { backendTemplateOf } from "../backends/index.ts";
import { clientPorts } from "../modules/client-ports.ts";
import { persistedState } from "../modules/persisted-state.ts";
import { templateOf } from "../policies/index.ts";
import { agentMounts, agentVariables, agentVolumes } from "./agent-pod.ts";
import { meshPod } from "./mesh-pod.ts";
import { GATEWAY_CONTAINER, selectorLabels, withOwnLabels } from "./names.ts";
import type { AgentPodSettings, KubernetesSettings } from "./settings.ts";
import { isObject } from "./strategic-merge.ts";

/** Seconds between the drain's last deadline and the kubelet's kill. */
const KILL_MARGIN = 5;
/** A user without rights; nothing in the image belongs to it. */
const USER = 10101;
/** What runs a bundle that no image holds. */
const NODE_IMAGE = "node:24-slim";

/** Unpacks the bundle of the ConfigMap: it is larger, unpacked, than a ConfigMap may be. */
const UNPACK =
  "require('fs').writeFileSync('/bundle/gateway.mjs'," +
  "require('zlib').gunzipSync(require('fs').readFileSync('/packed/gateway.mjs.gz')))";

/** Where a gateway keeps what a restart of its container must not forget. */
const STATE_DIR = "/var/lib/gwc";

/** The pods of a gateway: restricted pod security, a read-only root, probes on readiness, Secrets as files. */
export function podTemplate(
  program: Program,
  deployment: DeploymentNode,
  { image, digest, agent }: KubernetesSettings,
): Json {
  const { drain, addresses, workers } = program.process;
  const stats = portOf(addresses.stats);
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
      // Whoever sends the code sends its Secrets, too.
      ...(agent === undefined ? mountsOf(deployment) : []).map(({ volume }) => volume),
    ],
  };
  return {
    metadata: {
      labels: withOwnLabels(deployment.labels, selectorLabels(deployment)),
      annotations: {
        // Code that is sent changes without new pods, unless several threads are to share what one has.
        ...(agent === undefined ? { "gwc.dev/bundle": digest } : {}),
        ...(agent !== undefined && workers !== undefined ? { "gwc.dev/threads": "several" } : {}),
        "prometheus.io/scrape": "true",
        "prometheus.io/path": "/metrics",
        "prometheus.io/port": String(stats),
        ...deployment.annotations,
      },
    },
    spec,
  };
}

/** What every container may do: nothing beyond its own memory and mounts (Pod Security Standards, restricted). */
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

function gatewayContainer(
  program: Program,
  deployment: DeploymentNode,
  image: string | undefined,
  agent: AgentPodSettings | undefined,
): Json {
  const { binds, process } = program;
  const { addresses, drain } = process;
  const probe = { httpGet: { path: "/healthz/ready", port: portOf(addresses.readiness) } };
  const grace = Math.ceil(drain.max / 1000) + KILL_MARGIN;
  const defaults: readonly Json[] = [
    // What expressions read as env.podName and env.namespace.
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
      // They are only told. Code that is sent may open others, and needs no new pods.
      ...(agent === undefined ? clientPorts(program) : []).map((port) => ({
        name: `listener-${port}`,
        containerPort: port,
      })),
      { name: "metrics", containerPort: portOf(addresses.stats) },
    ],
    readinessProbe: { ...probe, periodSeconds: 10 },
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 60 },
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
    ],
  };
}

/** A HorizontalPodAutoscaler measures CPU as a part of what is requested: without a request it measures nothing. */
const DEFAULT_RESOURCES = { requests: { cpu: "100m", memory: "128Mi" } };

/** A mounted object, as a volume and where it stands in the container. */
interface Mount {
  readonly volume: Json;
  readonly mount: Json;
}

/** Secrets and ConfigMaps as files. */
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

/** Each object's name and that of its volume: a DNS label, so two names can come out the same and need a number. */
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
 * Sessions survive a change of the pod when all of them have one key. It is no part of the output: whoever runs
 * several pods makes the Secret, and without it each pod has a key of its own.
 */
function sessionKey(binds: Program["binds"], { name }: DeploymentNode): readonly Json[] {
  const routes = binds.flatMap(({ listeners }) => listeners.flatMap((each) => each.routes));
  const hasSessions = routes.some(
    ({ backends, policies }) =>
      backends.some(({ kind }) => backendTemplateOf(kind).hasSessions === true) ||
      policies.some(({ kind }) => templateOf(kind).hasSessions === true),
  );
  if (!hasSessions) return [];
  const secret = { name: `${name}-session-key`, key: "key", optional: true };
  return [{ name: "SESSION_KEY", valueFrom: { secretKeyRef: secret } }];
}

/** A variable of the parameters takes the place of the usual one of its name, whole. */
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

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}
