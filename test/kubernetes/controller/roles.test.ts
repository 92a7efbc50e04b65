import { beforeAll, expect, it } from "vitest";
import { OUR_GROUPS } from "../../../compiler/1-parse/kubernetes/kinds.ts";
import { selfSigned } from "../../../compiler/controller/admission/self-signed.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort, freePorts } from "../../harness/free-port.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import { missingHelm, rendered } from "../../harness/helm-chart.ts";
import { KubernetesApi, missingApiServer, type TestObject } from "../../harness/kubernetes-api.ts";
import { describeUnless } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { Workspace } from "../../harness/workspace.ts";
import { objectsOfAllKinds, otherDefinitions } from "./roles-manifests.ts";

const missing = missingHelm() ?? missingApiServer();

/** The values that give the controller more rights. */
const EVERY_ROLE = ["controller.xds.tls.enabled", "webhook.enabled", "inferenceExtension.enabled"];
const ACCOUNT = "gwc-system:gwc";

/** The objects that run Gateways. */
const OWNED: readonly OwnedObject[] = [
  ["apps/v1", "Deployment", "front"],
  ["apps/v1", "DaemonSet", "nodes"],
  ["v1", "Service", "front"],
  ["v1", "ServiceAccount", "front"],
  ["v1", "ConfigMap", "front-xds-ca"],
  ["policy/v1", "PodDisruptionBudget", "front"],
  ["autoscaling/v2", "HorizontalPodAutoscaler", "front"],
];

/** Those of them that a Gateway always has. */
const STAYING: readonly string[] = ["Deployment", "DaemonSet", "Service", "ServiceAccount"];

/**
 * The right that the API server itself requires for creating an object that blocks the deletion of a Gateway (its admission
 * plugin OwnerReferencesPermissionEnforcement); the controller makes no such call.
 */
const NEVER_CALLED = "gateway.networking.k8s.io/gateways/finalizers update";

type OwnedObject = readonly [apiVersion: string, kind: string, name: string];

const GATEWAYS = "gateway.networking.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io/v1";

function gateway(name: string, className: string): string {
  return `
apiVersion: ${GATEWAYS}
kind: Gateway
metadata: { name: ${name} }
spec: { gatewayClassName: ${className}, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
`;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A right in words: group, resource, name where it is about that alone, and verb. Our groups are one: kinds are in either. */
function right(group: string, resource: string, verb: string, name?: string): string {
  const [own] = OUR_GROUPS;
  const spelled = OUR_GROUPS.includes(group) ? own : group;
  return `${spelled}/${resource} ${name === undefined ? "" : `${name} `}${verb}`;
}

/** Returns the rights that the chart's roles grant. */
function rightsGranted(objects: readonly TestObject[]): ReadonlySet<string> {
  const rules = objects
    .filter(({ kind }) => kind === "ClusterRole" || kind === "Role")
    .flatMap((each) => each.rules as readonly Rule[]);
  return new Set(
    rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            (resourceNames ?? [undefined]).map((name) => right(group, resource, verb, name)),
          ),
        ),
      ),
    ),
  );
}

describeUnless(missing)("the roles of the chart", () => {
  let api: KubernetesApi;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    await api.installGatewayApi("experimental");
    for (const each of otherDefinitions) await api.apply(each);
    await api.applyText("apiVersion: v1\nkind: Namespace\nmetadata: { name: gwc-system }\n");
  }, 180_000);

  /** Returns the rights that were used so far. Applying an object that did not exist counts as creating it. */
  function rightsUsed(): ReadonlySet<string> {
    return new Set(
      api.audit.callsOf(ACCOUNT).flatMap(({ group, resource, name, verb, status }) => {
        const verbs = verb === "patch" && status === 201 ? ["patch", "create"] : [verb];
        return verbs.flatMap((each) => [
          right(group, resource, each),
          right(group, resource, each, name),
        ]);
      }),
    );
  }

  function isThere([apiVersion, kind, name]: OwnedObject, wanted: boolean) {
    return eventually(
      async () =>
        ((await api.get(apiVersion, kind, "default", name)) !== undefined) === wanted || null,
      `${kind} ${name}, ${wanted ? "made" : "removed"}`,
    );
  }

  async function token(account: string, spec: object): Promise<string> {
    const [namespace, name] = account.split(":");
    const url = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    return (await api.ask("POST", url, { spec })).body.status.token;
  }

  /** A replica that serves data planes at a port; `files`: the certificate that it has for that. */
  async function startReplica(port: number, files: Workspace | undefined): Promise<GwcProcess> {
    const replica = startController(
      { kubeconfig: api.kubeconfigOf(await token(ACCOUNT, {}), "gwc-system") },
      ...["--image", "example.com/gateway:1", "--inference-extension", "--lease-seconds", "3"],
      ...["--xds-port", String(port), "--xds-address", `https://127.0.0.1:${port}`],
      ...(files === undefined ? [] : ["--xds-tls", files.path(".")]),
      ...["--admission", "gwc-gwc-system", "--admission-port", String(await freePort())],
    );
    await replica.seen(/ready/);
    return replica;
  }

  async function startDataPlane(port: number, files: Workspace): Promise<void> {
    const audiences = ["gwc.dev/controller"];
    const own = new Workspace({ token: await token("default:front", { audiences }) });
    const agent = new GwcProcess(["agent"], {
      env: {
        ...{ XDS_ADDRESS: `https://127.0.0.1:${port}`, XDS_ROOT_CA: files.path("ca.crt") },
        ...{ NAMESPACE: "default", GATEWAY: "front", SERVICE_ACCOUNT: "front" },
        ...{ GWC_AGENT_DIR: temporaryFolder(), XDS_TOKEN_FILE: own.path("token") },
      },
    });
    await agent.seen(/serving generation/);
  }

  it("are enough with every value set, and have nothing that no controller asks for", async () => {
    const chart = rendered("--set", EVERY_ROLE.map((each) => `${each}=true`).join(","));
    const { cert, key } = selfSigned(["127.0.0.1"], 30);
    const mounted = { "tls.crt": cert, "tls.key": key, "ca.crt": cert };
    const files = new Workspace(mounted);
    const made = { "app.kubernetes.io/managed-by": "gwc-controller" };
    await api.apply(
      ...chart.filter(({ kind }) => kind !== "Deployment"),
      secret("gwc-system", "gwc-webhook-cert", { ...mounted, "tls.crt": "unreadable" }, made),
      secret("default", "site", mounted),
      configMap("ca", { "ca.crt": cert }),
    );
    await api.applyText(objectsOfAllKinds(await freePorts(6)));
    const leader = await startReplica(await freePort(), files);
    await leader.seen(/leading/);
    const port = await freePort();
    const other = await startReplica(port, files);
    for (const each of OWNED) await isThere(each, true);
    await startDataPlane(port, files);
    // The leader writes the statuses of data planes at the other replica.
    const isUsed = (wanted: string) =>
      eventually(() => Promise.resolve(rightsUsed().has(wanted) || null), wanted);
    await isUsed(right("coordination.k8s.io", "leases", "patch"));
    await leader.stop();
    await other.seen(/leading/);
    await other.stop();
    // Objects that are no longer requested are removed: a budget, an autoscaler, the CA of a port without TLS.
    const spec = { podDisruptionBudget: null, horizontalPodAutoscaler: null };
    await api.ask(
      "PATCH",
      "/apis/gwc.dev/v1alpha1/namespaces/default/gatewayparameters/own",
      ...([{ spec }, "application/merge-patch+json"] as const),
    );
    await startReplica(await freePort(), undefined);
    for (const each of OWNED) await isThere(each, STAYING.includes(each[1]));
    // The objects for a Gateway of another controller's class are removed, too.
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: other }
spec: { controllerName: example.com/other }
---${gateway("front", "other")}---${gateway("nodes", "other")}`);
    for (const each of OWNED) await isThere(each, false);
    for (const each of rightsGranted(chart)) if (each !== NEVER_CALLED) await isUsed(each);
    const refused = api.audit.callsOf(ACCOUNT).filter(({ status }) => status === 403);
    expect(refused).toEqual([]);
  });

  it("hold the end of a Gateway up until its objects are gone, which some clusters ask a right for", async () => {
    const deployer = await api.get(RBAC, "ClusterRole", "", "gwc-gwc-system-deployer");
    const rules = (deployer.rules as readonly Rule[]).filter(
      ({ resources }) => !resources.includes("gateways/finalizers"),
    );
    expect(rules).toHaveLength(deployer.rules.length - 1);
    const grant = (granted: readonly Rule[]) =>
      api.ask("PATCH", api.url(deployer), { rules: granted }, "application/merge-patch+json");
    await grant(rules);
    const resourceAttributes = {
      ...{ group: "gateway.networking.k8s.io", resource: "gateways", subresource: "finalizers" },
      verb: "update",
    };
    await eventually(async () => {
      const spec = { user: `system:serviceaccount:${ACCOUNT}`, resourceAttributes };
      const url = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      return (await api.ask("POST", url, { spec })).body.status.allowed ? null : true;
    }, "the end of a right");
    await startReplica(await freePort(), undefined);
    await api.applyText(gateway("held", "gwc"));
    await eventually(async () => {
      const { status } = await api.get(GATEWAYS, "Gateway", "default", "held");
      const said: { message: string }[] = status.conditions;
      return said.some(({ message }) => /cannot set blockOwnerDeletion/.test(message)) || null;
    }, "a Gateway that says which right is missing");
    await grant(deployer.rules);
    await isThere(["apps/v1", "Deployment", "held"], true);
  });
});

function secret(
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): TestObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, labels }, stringData };
}

function configMap(name: string, data: Readonly<Record<string, string>>): TestObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
}
