import { execFileSync } from "node:child_process";
import { beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { overlayTypes } from "../../../compiler/2-lower/kubernetes/gateway/overlay-types.ts";
import { kubernetesFiles } from "../../../compiler/4-emit/emit.ts";
import { KubernetesApi, kubernetesBinary, missingApiServer } from "../../harness/kubernetes-api.ts";
import { type OpenApiSchemas, overlaidFields } from "../../harness/overlaid-fields.ts";
import { describeUnless } from "../../harness/skip.ts";
import { Workspace } from "../../harness/workspace.ts";
import { checkManifests, complaints } from "../manifests.ts";

const missing = missingApiServer(["kubectl"]);

/** The file of each overlaid resource, and where the API server makes one. */
const RESOURCES = {
  deployment: ["deployment", "/apis/apps/v1/namespaces/default/deployments"],
  service: ["service", "/api/v1/namespaces/default/services"],
  serviceAccount: ["service-account", "/api/v1/namespaces/default/serviceaccounts"],
  podDisruptionBudget: [
    "pod-disruption-budget",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
  ],
  horizontalPodAutoscaler: [
    "horizontal-pod-autoscaler",
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
  ],
} as const;
type Resource = keyof typeof RESOURCES;

/** Parameters of the class: a budget, an autoscaler, and fields that overlays remove again. */
const OF_CLASS = {
  deployment: {
    spec: {
      minReadySeconds: 5,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
      template: {
        spec: {
          nodeSelector: { disk: "ssd", zone: "a" },
          tolerations: [{ key: "spot", operator: "Exists" }],
          hostAliases: [{ ip: "192.0.2.1", hostnames: ["a.test"] }],
          imagePullSecrets: [{ name: "one" }],
          initContainers: [{ name: "first", image: "example.com/first:1", args: ["a", "b"] }],
          containers: [
            {
              name: "gateway",
              env: [{ name: "OWN", value: "1" }],
              ports: [{ containerPort: 8080, name: "web" }],
              resources: { limits: { memory: "1Gi", cpu: "1" } },
            },
            { name: "side", image: "example.com/side:1" },
          ],
        },
      },
    },
  },
  service: { spec: { externalTrafficPolicy: "Local", ports: [{ port: 9443, name: "more" }] } },
  podDisruptionBudget: { spec: { minAvailable: 1 } },
  horizontalPodAutoscaler: {
    spec: { maxReplicas: 4, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
  },
};

const pod = (spec: object) => ({ template: { spec } });
const container = (fields: object) => pod({ containers: [{ name: "gateway", ...fields }] });

/** Specs of overlays, and for each what it is about. */
const OVERLAYS: readonly (readonly [Resource, string, object])[] = [
  ["deployment", "a scalar", { replicas: 3, revisionHistoryLimit: 2, paused: false }],
  ["deployment", "a scalar that is taken out", { minReadySeconds: null }],
  ["deployment", "a map that is taken out", { strategy: { $patch: "delete" } }],
  ["deployment", "a map that is replaced", { strategy: { $patch: "replace", type: "Recreate" } }],
  [
    "deployment",
    "keys of a map that stay",
    { strategy: { $retainKeys: ["type"], type: "Recreate" } },
  ],
  ["deployment", "a map that is merged", pod({ nodeSelector: { zone: null, arch: "arm64" } })],
  ["deployment", "a list without key", pod({ tolerations: [{ key: "own", operator: "Exists" }] })],
  [
    "deployment",
    "lists that are merged by other keys",
    pod({
      hostAliases: [
        { ip: "192.0.2.1", hostnames: ["b.test"] },
        { ip: "192.0.2.2", hostnames: ["c.test"] },
      ],
      imagePullSecrets: [{ name: "two" }, { name: "one", $patch: "delete" }],
      topologySpreadConstraints: [
        { topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
      ],
    }),
  ],
  [
    "deployment",
    "containers that come, change and go",
    pod({
      initContainers: [{ name: "first", "$deleteFromPrimitiveList/args": ["a"] }],
      containers: [
        { name: "side", $patch: "delete" },
        { name: "added", image: "example.com/added:1" },
      ],
    }),
  ],
  [
    "deployment",
    "a list that is replaced",
    pod({ initContainers: [{ $patch: "replace" }, { name: "only", image: "example.com/only:1" }] }),
  ],
  [
    "deployment",
    "variables of the gateway",
    container({
      env: [
        { name: "OWN", $patch: "delete" },
        { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      ],
    }),
  ],
  [
    "deployment",
    "ports and what it may use",
    container({
      ports: [{ containerPort: 8080, name: "http" }, { containerPort: 8443 }],
      resources: { limits: { cpu: null }, requests: { memory: "64Mi" } },
    }),
  ],
  [
    "deployment",
    "volumes and where they are mounted",
    {
      template: {
        metadata: { labels: { own: "1" }, annotations: { "prometheus.io/scrape": null } },
        spec: {
          volumes: [
            { name: "tmp", emptyDir: { medium: "Memory" } },
            { name: "extra", configMap: { name: "extra", items: [{ key: "a", path: "b" }] } },
          ],
          containers: [
            {
              name: "gateway",
              volumeMounts: [
                { mountPath: "/tmp", name: "tmp", readOnly: false },
                { mountPath: "/extra", name: "extra" },
              ],
            },
          ],
        },
      },
    },
  ],
  [
    "deployment",
    "what pods may do, and where they run",
    pod({
      securityContext: { runAsUser: null, sysctls: [] },
      priorityClassName: "high",
      terminationGracePeriodSeconds: 90,
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      dnsConfig: { options: [{ name: "ndots", value: "1" }] },
    }),
  ],
  [
    "deployment",
    "probes",
    container({ readinessProbe: { periodSeconds: 2 }, livenessProbe: null }),
  ],
  [
    "service",
    "its type and address",
    { type: "NodePort", externalTrafficPolicy: null, sessionAffinity: "ClientIP" },
  ],
  [
    "service",
    "ports by their number",
    {
      ports: [
        { port: 80, nodePort: 30_080, appProtocol: "http" },
        { port: 9443, $patch: "delete" },
        { port: 9444, name: "other", targetPort: "metrics" },
      ],
    },
  ],
  ["service", "a selector that is merged", { selector: { canary: "no" } }],
  [
    "service",
    "what a balancer lets in",
    { loadBalancerSourceRanges: ["192.0.2.0/24"], ipFamilyPolicy: "PreferDualStack" },
  ],
  ["podDisruptionBudget", "the other bound", { minAvailable: null, maxUnavailable: "30%" }],
  [
    "podDisruptionBudget",
    "a selector, which is replaced",
    { selector: { matchLabels: { own: "1" } }, unhealthyPodEvictionPolicy: "AlwaysAllow" },
  ],
  [
    "horizontalPodAutoscaler",
    "its bounds and metrics",
    {
      minReplicas: 2,
      maxReplicas: 8,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
        },
      ],
    },
  ],
  [
    "horizontalPodAutoscaler",
    "a behaviour that is taken out",
    {
      behavior: {
        scaleDown: null,
        scaleUp: { policies: [{ type: "Pods", value: 4, periodSeconds: 15 }] },
      },
    },
  ],
];

function resourcesOf(overlay: object): (name: Resource) => object {
  const parameters = (name: string, spec: object) => ({
    ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayParameters" },
    ...{ metadata: { name }, spec },
  });
  const reference = (name: string) => ({ group: "gwc.dev", kind: "GatewayParameters", name });
  const gatewayApi = "gateway.networking.k8s.io/v1";
  const parametersRef = { ...reference("of-class"), namespace: "default" };
  const documents = [
    parameters("of-class", OF_CLASS),
    parameters("own", overlay),
    {
      ...{ apiVersion: gatewayApi, kind: "GatewayClass", metadata: { name: "gwc" } },
      spec: { controllerName: "gwc.dev/gateway", parametersRef },
    },
    {
      ...{ apiVersion: gatewayApi, kind: "Gateway", metadata: { name: "front" } },
      spec: {
        gatewayClassName: "gwc",
        infrastructure: { parametersRef: reference("own") },
        listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
      },
    },
  ];
  const checked = checkManifests(documents.map((each) => JSON.stringify(each)).join("\n---\n"));
  if (checked.program === undefined || complaints(checked).length > 0)
    throw new Error(complaints(checked).join("\n"));
  const image = "example.com/gateway:1";
  const files = kubernetesFiles(checked.program, Buffer.from(""), "digest", { image });
  return (name) => {
    const [file] = RESOURCES[name];
    return parse(files.find(({ path: each }) => each === `kubernetes/${file}.yaml`)?.text ?? "");
  };
}

/** Applies a patch to an object with kubectl, without a server. */
function patched(object: object, patch: object): object {
  const file = new Workspace({ "object.json": JSON.stringify(object) }).path("object.json");
  const options = ["patch", "--local", "-f", file, "--type", "strategic", "-o", "json"];
  const text = execFileSync(kubernetesBinary("kubectl"), [...options, "-p", JSON.stringify(patch)]);
  return withoutNothing(JSON.parse(text.toString())) as object;
}

/** Fields that are null, and empty maps and lists, say nothing; nor does the order of objects, which overlays add to the end. */
function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutNothing);
    const hasOrder = items.some((each) => typeof each !== "object");
    return hasOrder ? items : items.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).map(([key, each]) => [key, withoutNothing(each)] as const);
  return Object.fromEntries(
    kept.filter(([, each]) => each !== null && !["{}", "[]"].includes(JSON.stringify(each))),
  );
}

function sortKey(item: unknown): string {
  return JSON.stringify(Object.entries(Object(item)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

describeUnless(missing)("overlays on an API server", () => {
  let api: KubernetesApi;
  let base: (name: Resource) => object;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    base = resourcesOf({});
  }, 180_000);

  async function taken(name: Resource, object: object): Promise<object> {
    const { status, body } = await api.ask(
      "POST",
      `${RESOURCES[name][1]}?dryRun=All&fieldValidation=Strict`,
      object,
    );
    expect([status, status === 201 ? "" : body.message]).toEqual([201, ""]);
    return body;
  }

  it.each(OVERLAYS)("%s: %s", async (name, _, spec) => {
    const merged = resourcesOf({ [name]: { spec } })(name);
    expect(withoutNothing(merged)).toMatchObject({
      spec: Reflect.get(patched(base(name), { spec }), "spec"),
    });
    await taken(name, merged);
  });

  it("labels and annotations of every kind, over those of the class", async () => {
    const metadata = { labels: { own: "1" }, annotations: { "example.com/own": "yes" } };
    for (const name of Object.keys(RESOURCES) as Resource[])
      expect(await taken(name, resourcesOf({ [name]: { metadata } })(name))).toMatchObject({
        metadata,
      });
  });

  it("the fields that are known are those of the API server", async () => {
    const groups = ["api/v1", "apis/apps/v1", "apis/policy/v1", "apis/autoscaling/v2"];
    const documents = await Promise.all(
      groups.map((each) => api.ask("GET", `/openapi/v3/${each}`)),
    );
    const schemas: OpenApiSchemas = Object.assign(
      {},
      ...documents.map(({ body }) => body.components.schemas),
    );
    expect(overlaidFields(schemas)).toBe(overlayTypes.trim());
  });
});
