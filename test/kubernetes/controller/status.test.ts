import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../../harness/certificate.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort } from "../../harness/free-port.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import { type KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { routeManifest } from "./route-manifest.ts";

const missing = missingApiServer();

const ECHO = `
apiVersion: v1
kind: Service
metadata: { name: echo }
spec: { ports: [{ port: 80 }] }
`;

interface TestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly observedGeneration: number;
}

describeUnless(missing)("gwc controller and the status of objects", () => {
  let api: KubernetesApi;
  let controller: GwcProcess;

  beforeAll(async () => {
    const front = await FrontGateway.start();
    ({ api } = front);
    await api.applyText(ECHO);
    await api.applyText(routeManifest("good", "echo"));
    controller = front.startController();
    await controller.seen(/leading/);
  }, 180_000);

  /** A condition of a route once it is about the newest generation and has this status. */
  function routeCondition(name: string, type: string, status: string): Promise<TestCondition> {
    return eventually(async () => {
      const found = await api.get("gateway.networking.k8s.io/v1", "HTTPRoute", "default", name);
      const conditions: TestCondition[] = (found?.status?.parents ?? []).flatMap(
        (each: { controllerName: string; conditions: TestCondition[] }) =>
          each.controllerName === "gwc.dev/gateway" ? each.conditions : [],
      );
      const own = conditions.find((each) => each.type === type);
      const isNew = own?.observedGeneration === found?.metadata.generation;
      return own !== undefined && isNew && own.status === status ? own : null;
    }, `${type} ${status} of the route ${name}`);
  }

  async function versionOf(name: string): Promise<string> {
    const found = await api.get("gateway.networking.k8s.io/v1", "HTTPRoute", "default", name);
    return found.metadata.resourceVersion;
  }

  it("sizes may be numbers and quantities, as gwc takes them", async () => {
    const policy = (size: string) => `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: sizes }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: front }]
  frontend: { http: { maxBufferSize: ${size} } }
`;
    for (const size of ["2048", "2Mi", "1.5M"]) await api.applyText(policy(size));
    for (const size of ["0", "many", "-1Mi", "true"])
      await expect(api.applyText(policy(size))).rejects.toThrow(/maxBufferSize/);
  });

  it("kubectl get shows whether a policy is accepted and attached", async () => {
    const shown = await eventually(async () => {
      const { body } = await api.ask(
        "GET",
        "/apis/gwc.dev/v1alpha1/namespaces/default/gatewaypolicies",
        undefined,
        "application/json",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
      );
      const { columnDefinitions, rows } = body as {
        columnDefinitions: { name: string }[];
        rows: { cells: unknown[] }[];
      };
      const cells = rows[0]?.cells.map(String) ?? [];
      const found = columnDefinitions.map(({ name }, at) => `${name}=${cells[at]}`);
      return found.some((each) => /^Accepted=(True|False)/.test(each)) ? found : null;
    }, "the columns of a policy");
    expect(shown).toEqual(expect.arrayContaining(["Name=sizes", "Accepted=True"]));
  });

  it("a route that attaches is accepted, and the Gateway counts it", async () => {
    await routeCondition("good", "Accepted", "True");
    await routeCondition("good", "ResolvedRefs", "True");
    const gateway = await eventually(async () => {
      const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
      return found.status?.listeners?.[0]?.attachedRoutes >= 1 ? found : null;
    }, "an attached route");
    expect(gateway.status.conditions).toContainEqual(
      expect.objectContaining({ type: "Accepted", status: "True", observedGeneration: 1 }),
    );
  });

  it("a backend that comes later resolves the reference, without a change of the route", async () => {
    await api.applyText(routeManifest("waits", "late"));
    const { reason } = await routeCondition("waits", "ResolvedRefs", "False");
    expect(reason).toBe("BackendNotFound");
    await api.applyText(`
apiVersion: v1
kind: Service
metadata: { name: late }
spec: { ports: [{ port: 80 }] }
`);
    await routeCondition("waits", "ResolvedRefs", "True");
  });

  it("a BackendTLSPolicy with invalid CA certificates is not accepted until they are fixed", async () => {
    const authorities = (text: string) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "ca" },
        data: { "ca.crt": text },
      });
    const policy = () =>
      api.get("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "default", "spare");
    const said = (accepted: string) =>
      eventually(async () => {
        const found = await policy();
        const conditions: TestCondition[] = found?.status?.ancestors?.[0]?.conditions ?? [];
        const lines = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
        return lines.includes(accepted) ? lines : null;
      }, accepted);
    await api.applyText(authorities("not valid"));
    await api.applyText(`
apiVersion: v1
kind: Service
metadata: { name: spare }
spec: { ports: [{ port: 80 }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: spare }
spec:
  targetRefs: [{ group: "", kind: Service, name: spare }]
  validation:
    hostname: a.test
    caCertificateRefs: [{ group: "", kind: ConfigMap, name: ca }]
`);
    await api.applyText(routeManifest("spare", "spare"));
    expect(await said("Accepted False NoValidCACertificate")).toContain(
      "ResolvedRefs False InvalidCACertificateRef",
    );
    const folder = temporaryFolder();
    makeCertificate(folder, "ca");
    await api.applyText(authorities(readFileSync(path.join(folder, "ca.pem"), "utf8")));
    expect(await said("Accepted True Accepted")).toContain("ResolvedRefs True ResolvedRefs");
    await api.applyText(routeManifest("spare", "echo"));
    await eventually(
      async () => ((await policy()).status.ancestors.length === 0 ? true : null),
      "silence",
    );
  });

  it("a mistake is an Event of its object, in the words of the status, and told once", async () => {
    const events = async (name: string) => {
      const { body } = await api.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events");
      return body.items.filter(
        (each: { regarding: { kind: string; name: string } }) =>
          each.regarding.kind === "HTTPRoute" && each.regarding.name === name,
      );
    };
    await api.applyText(routeManifest("mistaken", "no-such-backend"));
    await routeCondition("mistaken", "ResolvedRefs", "False");
    const [event] = await eventually(async () => {
      const found = await events("mistaken");
      return found.length === 0 ? null : found;
    }, "an Event");
    const { status } = await api.get(
      ...(["gateway.networking.k8s.io/v1", "HTTPRoute", "default", "mistaken"] as const),
    );
    const { message } = status.parents[0].conditions.find(
      ({ type }: TestCondition) => type === "ResolvedRefs",
    );
    expect(message).toContain("no-such-backend");
    expect(event).toMatchObject({ type: "Warning", reason: "BackendNotFound", note: message });
    // Another change that leaves the mistake where it was.
    await api.applyText(routeManifest("mistaken", "no-such-backend", "/elsewhere"));
    await eventually(async () => {
      const found = await routeCondition("mistaken", "ResolvedRefs", "False");
      return found.observedGeneration === 2 ? found : null;
    }, "the new generation");
    expect(await events("mistaken")).toHaveLength(1);
  });

  it("what another controller says of a route stays", async () => {
    await api.applyText(routeManifest("shared", "echo"));
    await routeCondition("shared", "Accepted", "True");
    const url = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes/shared";
    const { body } = await api.ask("GET", url);
    const other = {
      parentRef: { name: "elsewhere" },
      controllerName: "other.example/controller",
      conditions: body.status.parents[0].conditions,
    };
    const status = { parents: [...body.status.parents, other] };
    await api.ask("PATCH", `${url}/status`, { status }, "application/merge-patch+json");
    await api.applyText(routeManifest("shared", "nothing"));
    await routeCondition("shared", "ResolvedRefs", "False");
    const after = await api.ask("GET", url);
    const names = after.body.status.parents.map(
      (each: { controllerName: string }) => each.controllerName,
    );
    expect(names.sort()).toEqual(["gwc.dev/gateway", "other.example/controller"]);
    // Of a Gateway that is not there nobody says anything, and what was said is taken back.
    const homeless = (name: string) =>
      routeManifest(name, "echo").replace("name: front", "name: nobody");
    await api.applyText(homeless("homeless"));
    await api.applyText(homeless("shared"));
    await eventually(async () => {
      const { parents } = (await api.ask("GET", url)).body.status;
      return parents.length === 1 && parents[0].controllerName === other.controllerName
        ? true
        : null;
    }, "a status without an entry of a Gateway that is not there");
    const found = await api.get("gateway.networking.k8s.io/v1", "HTTPRoute", "default", "homeless");
    expect(found.status?.parents ?? []).toEqual([]);
    expect(found.metadata.managedFields).toHaveLength(1);
  });

  it("nothing is written when nothing has changed", async () => {
    const before = await versionOf("good");
    // A change that reaches the controller after the last write: once it is answered, all is compared.
    await api.applyText(routeManifest("marker", "echo"));
    await routeCondition("marker", "Accepted", "True");
    expect(await versionOf("good")).toBe(before);
  });

  it("a certificate of another namespace serves once it is granted, and only while it can be read", async () => {
    const folder = temporaryFolder();
    makeCertificate(folder, "site");
    const [cert, key] = ["site.pem", "site.key"].map((file) =>
      readFileSync(path.join(folder, file), "utf8"),
    );
    const secret = (crt = "") => ({
      ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls" },
      metadata: { name: "site", namespace: "certs" },
      stringData: { "tls.crt": crt, "tls.key": key },
    });
    await api.applyText("apiVersion: v1\nkind: Namespace\nmetadata: { name: certs }\n");
    await api.apply(secret(cert));
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: tls }
spec:
  gatewayClassName: gwc
  listeners:
    - name: https
      port: 8443
      protocol: HTTPS
      tls: { certificateRefs: [{ name: site, namespace: certs }] }
`);
    const reason = (status: string) =>
      eventually(async () => {
        const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "tls");
        const conditions: TestCondition[] = found.status?.listeners?.[0]?.conditions ?? [];
        const own = conditions.find(({ type }) => type === "ResolvedRefs");
        return own?.status === status ? own.reason : null;
      }, `ResolvedRefs ${status}`);
    expect(await reason("False")).toBe("RefNotPermitted");
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: certs, namespace: certs }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: Gateway, namespace: default }]
  to: [{ group: "", kind: Secret }]
`);
    expect(await reason("True")).toBe("ResolvedRefs");
    await api.apply(secret("no certificate"));
    expect(await reason("False")).toBe("InvalidCertificateRef");
    await api.delete({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "tls" },
    });
  });

  it("a Gateway of another class is left alone", async () => {
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: foreign }
spec:
  gatewayClassName: nobody
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
`);
    await api.applyText(routeManifest("second-marker", "echo"));
    await routeCondition("second-marker", "Accepted", "True");
    const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "foreign");
    expect(found.status.conditions[0].reason).toBe("Pending");
  });

  it("the class says whether the installed release of the Gateway API is one that gwc knows", async () => {
    const condition = (status: string) =>
      eventually(async () => {
        const found = await api.get("gateway.networking.k8s.io/v1", "GatewayClass", "", "gwc");
        const conditions: { type: string; status: string; message: string }[] =
          found?.status?.conditions ?? [];
        const own = conditions.find(({ type }) => type === "SupportedVersion");
        return own?.status === status ? own : null;
      }, `SupportedVersion ${status}`);
    await condition("True");
    const url =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gatewayclasses.gateway.networking.k8s.io";
    const release = (version: string) => {
      const annotations = { "gateway.networking.k8s.io/bundle-version": version };
      return api.ask("PATCH", url, { metadata: { annotations } }, "application/merge-patch+json");
    };
    await release("v1.2.1");
    expect((await condition("False")).message).toContain("v1.2.1");
    await controller.seen(/warn.*the definitions of the Gateway API are those of v1\.2\.1/);
    await release("v1.5.1");
    await condition("True");
  });

  it("health and figures say what it does", async () => {
    const [health, metrics] = [await freePort(), await freePort()];
    const second = startController(
      api,
      ...["--health-port", String(health), "--metrics-port", String(metrics)],
    );
    await second.seen(/ready/);
    expect((await send(`http://127.0.0.1:${health}/readyz`, "GET")).status).toBe(200);
    const { body } = await send(`http://127.0.0.1:${metrics}/metrics`, "GET");
    expect(body).toMatch(/^gwc_controller_leading 0$/m);
    expect(body).toMatch(/^gwc_controller_gateways 1$/m);
    expect(body).toMatch(/^gwc_controller_compile_seconds_bucket\{le="\+Inf"\} [1-9]/m);
    await api.applyText(routeManifest("counted", "echo"));
    const figure = async (name: string) => {
      const now = await send(`http://127.0.0.1:${metrics}/metrics`, "GET");
      return Number(new RegExp(`^gwc_controller_${name} (\\S+)$`, "m").exec(now.body)?.[1]);
    };
    await eventually(
      async () => (await figure("reconcile_seconds_count")) > 0 || null,
      "a time from a change to what is sent",
    );
    expect(await figure("reconcile_seconds_sum")).toBeGreaterThan(0);
    expect(await figure('reconcile_seconds_bucket{le="60"}')).toBeGreaterThan(0);
    // Its own statuses are changes, too.
    await expect.poll(() => figure("changes_waiting")).toBe(0);
    // Another replica writes.
    expect(await figure("statuses_waiting")).toBe(0);
    expect(await second.stop()).toBe(0);
  });

  it("a ListenerSet is not programmed while no data plane has its listeners", async () => {
    const gatewayApi = "gateway.networking.k8s.io/v1";
    await api.applyText(`
apiVersion: ${gatewayApi}
kind: Gateway
metadata: { name: sets }
spec:
  gatewayClassName: gwc
  allowedListeners: { namespaces: { from: Same } }
  listeners: [{ name: own, port: 9090, protocol: HTTP }]
---
apiVersion: ${gatewayApi}
kind: ListenerSet
metadata: { name: added }
spec:
  parentRef: { name: sets }
  listeners: [{ name: more, port: 9091, protocol: HTTP }]
`);
    const programmed = await eventually(async () => {
      const set = await api.get(gatewayApi, "ListenerSet", "default", "added");
      const conditions: TestCondition[] = [
        ...(set?.status?.conditions ?? []),
        ...(set?.status?.listeners?.[0]?.conditions ?? []),
      ];
      const found = conditions.filter(
        (each) => each.type === "Programmed" && each.reason === "Pending",
      );
      return found.length === 2 ? found : null;
    }, "that the ListenerSet waits for data planes");
    expect(programmed.map(({ status }) => status)).toEqual(["False", "False"]);
  });

  it("a ListenerSet, whose definition lacks a field of its status, is not written again with each change of others", async () => {
    const writes = () =>
      api.audit.callsOf("default:gwc").filter(({ verb, resource, name }) => {
        return verb === "patch" && resource === "listenersets/status" && name === "added";
      }).length;
    const before = writes();
    expect(before).toBeGreaterThan(0);
    for (let change = 0; change < 10; change++) {
      await api.applyText(routeManifest("good", "echo", `/good-${change}`));
      await routeCondition("good", "Accepted", "True");
    }
    expect(writes() - before).toBeLessThan(3);
  });

  it("a second controller waits until the first one ends", async () => {
    const second = startController(api);
    await second.seen(/ready/);
    expect(second.output).not.toContain("leading");
    const before = await versionOf("good");
    await controller.stop();
    await second.seen(/leading/);
    await api.applyText(routeManifest("after-change", "echo"));
    await routeCondition("after-change", "Accepted", "True");
    // The statuses of the others still hold, so nobody writes them again.
    expect(await versionOf("good")).toBe(before);
  });

  it("a leader that is killed is followed when the seconds of its Lease are over", async () => {
    // Longer than a starved leader takes to renew it.
    const options = ["--lease-seconds", "10"];
    const first = startController(api, ...options);
    await first.seen(/leading/);
    const next = startController(api, ...options);
    await next.seen(/ready/);
    const lease = await api.get("coordination.k8s.io/v1", "Lease", "default", "gwc-controller");
    expect(lease.spec.leaseDurationSeconds).toBe(10);
    expect(next.output).not.toContain("leading");
    await first.stop("SIGKILL");
    await next.seen(/leading/);
    await api.applyText(routeManifest("after-kill", "echo"));
    await routeCondition("after-kill", "Accepted", "True");
  });

  it("a restart of the API server is survived", async () => {
    const follower = startController(api);
    await follower.seen(/leading/);
    await api.killServer();
    await follower.seen(/httproutes: /);
    await api.startServer();
    await api.applyText(routeManifest("after-restart", "echo"));
    await routeCondition("after-restart", "Accepted", "True");
  });
});
