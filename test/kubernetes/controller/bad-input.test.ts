import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../../harness/certificate.ts";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi, TestObject } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { missingPods, serviceManifest } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";

const missing = process.env.GWC_LONG_TESTS === "1" ? missingPods() : "GWC_LONG_TESTS=1";
const BROKEN = 1_000;
const PATIENCE = 600_000;
const gatewayApi = "gateway.networking.k8s.io/v1";

describeUnless(missing)("what clusters hold that nobody meant", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let controller: GwcProcess;

  beforeAll(async () => {
    front = await FrontGateway.start();
    ({ api } = front);
    const port = await listen(
      createServer((_, response) => response.end("served")),
      "0.0.0.0",
    );
    await api.applyText(serviceManifest("echo", port));
    await api.apply(route("root", "/", {}));
    controller = front.startController();
    await controller.seen(/leading/);
    await front.startDataPlane();
    await answered("/", "200 served");
  }, 180_000);

  function route(name: string, prefix: string, rule: object, parent = "front"): TestObject {
    const matches = [{ path: { type: "PathPrefix", value: prefix } }];
    const backendRefs = [{ name: "echo", port: 80 }];
    return {
      ...{ apiVersion: gatewayApi, kind: "HTTPRoute" },
      metadata: { name, namespace: "default" },
      spec: { parentRefs: [{ name: parent }], rules: [{ matches, backendRefs, ...rule }] },
    };
  }

  function answered(at: string, wanted: string, port = front.port): Promise<unknown> {
    let last = "";
    return eventually(
      async () => {
        const got = await send(`http://127.0.0.1:${port}${at}`, "GET").catch(() => undefined);
        last = `${got?.status} ${got?.body}`;
        return last.startsWith(wanted) || null;
      },
      () => `${wanted} at ${at}, which is ${last}`,
    );
  }

  async function condition(name: string, type: string): Promise<string | undefined> {
    const found = await api.get(gatewayApi, "HTTPRoute", "default", name);
    const conditions: { type: string; status: string }[] =
      found.status?.parents?.[0]?.conditions ?? [];
    return conditions.find((each) => each.type === type)?.status;
  }

  /** Mistakes that the API server's own rules accept, with the condition that reports them. */
  const MISTAKES: readonly (readonly [condition: string, rule: object])[] = [
    ["ResolvedRefs", { backendRefs: [{ name: "nobody", port: 80 }] }],
    ["ResolvedRefs", { backendRefs: [{ name: "echo", namespace: "kube-system", port: 80 }] }],
    ["ResolvedRefs", { backendRefs: [{ group: "x.example", kind: "Thing", name: "a" }] }],
    ["Accepted", { filters: [{ type: "ExtensionRef", extensionRef: thing("a") }] }],
  ];

  it(
    `of ${BROKEN} broken routes each answers 500 and says why, and good ones come and go as before`,
    async () => {
      const all = Array.from({ length: BROKEN }, (_, index) => index);
      const left = all.values();
      const make = async () => {
        for (const index of left) {
          const [, rule = {}] = MISTAKES[index % MISTAKES.length] ?? [];
          await api.apply(route(`broken-${index}`, `/broken/${index}`, rule));
        }
      };
      await Promise.all(Array.from({ length: 16 }, make));
      await api.apply(route("good", "/good", {}));
      await answered("/good", "200 served");
      for (const index of all.filter((each) => each % 97 < MISTAKES.length)) {
        await answered(`/broken/${index}`, "500");
        const [type = ""] = MISTAKES[index % MISTAKES.length] ?? [];
        await eventually(
          async () => (await condition(`broken-${index}`, type)) === "False" || null,
          `${type} of broken-${index}`,
        );
      }
      for (const index of all)
        await eventually(
          async () => (await condition(`broken-${index}`, "Accepted")) !== undefined || null,
          `a status of broken-${index}`,
        );
      expect(await condition("good", "Accepted")).toBe("True");
      // Mistakes are reported as Events within bounds: the API server stores each for an hour.
      const { body } = await api.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events");
      expect(body.items.length).toBeGreaterThan(10);
      expect(body.items.length).toBeLessThan(BROKEN / 2);
      await api.apply(route("broken-0", "/broken/0", {}));
      await answered("/broken/0", "200 served");
      await answered("/good", "200 served");
    },
    PATIENCE,
  );

  it("names and values that are code elsewhere are names and values", async () => {
    const hostile = [
      ...["constructor", "prototype", "tostring", "hasownproperty", "gateway", "main", "default"],
      ...["a".repeat(253), "a.b-c.d", "0", "x--y", "httproutes.x"],
    ];
    for (const [index, name] of hostile.entries()) {
      const text = '`${process.exit(1)}` */ \\u2028 </script> "; process.exit(1); //';
      const set = [{ name: "x-own", value: text }];
      const filters = [{ type: "ResponseHeaderModifier", responseHeaderModifier: { set } }];
      await api.apply(route(name, `/hostile/${index}`, { filters }));
    }
    for (const index of hostile.keys())
      await eventually(async () => {
        const got = await send(`http://127.0.0.1:${front.port}/hostile/${index}`, "GET");
        return String(got.headers["x-own"]).includes("process.exit(1)") || null;
      }, `the header of route ${hostile[index]}`);
    expect(controller.hasEnded).toBe(false);
  });

  it(
    "an object as large as the API server takes holds up no other",
    async () => {
      const matches = Array.from({ length: 64 }, (_, index) => ({
        path: { type: "PathPrefix", value: `/large/${index}/${"x".repeat(900)}` },
        headers: Array.from({ length: 16 }, (_, own) => ({
          ...{ type: "Exact", name: `x-${own}` },
          value: "y".repeat(400),
        })),
      }));
      const rules = [{ matches, backendRefs: [{ name: "echo", port: 80 }] }];
      const { spec, ...head } = route("large", "/", {});
      await api.apply({ ...head, spec: { ...(spec as object), rules } });
      await api.apply(route("after-large", "/after-large", {}));
      await answered("/after-large", "200 served");
      await eventually(async () => (await condition("large", "Accepted")) ?? null, "a status");
    },
    PATIENCE,
  );

  it("a certificate that is deleted takes its listener along, and nothing else, until it is back", async () => {
    const folder = temporaryFolder();
    makeCertificate(folder, "site");
    const [cert, key] = ["site.pem", "site.key"].map((file) =>
      readFileSync(path.join(folder, file), "utf8"),
    );
    const secret = {
      ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls" },
      metadata: { name: "site", namespace: "default" },
      stringData: { "tls.crt": cert, "tls.key": key },
    };
    await api.apply(secret);
    const gateway = await api.get(gatewayApi, "Gateway", "default", "front");
    const [http] = gateway.spec.listeners;
    const tls = { certificateRefs: [{ name: "site" }] };
    const https = { ...http, name: "https", port: http.port + 1, protocol: "HTTPS", tls };
    const url = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/front";
    const set = (listeners: readonly object[]) =>
      api.ask("PATCH", url, { spec: { listeners } }, "application/merge-patch+json");
    await set([http, https]);
    const resolved = (status: string) =>
      eventually(async () => {
        const { body } = await api.ask("GET", url);
        const own = body.status.listeners.find(({ name }: { name: string }) => name === "https");
        return (
          own?.conditions.some(
            (each: { type: string; status: string }) =>
              each.type === "ResolvedRefs" && each.status === status,
          ) || null
        );
      }, `ResolvedRefs ${status}`);
    await resolved("True");
    await api.delete(secret);
    await resolved("False");
    await answered("/good", "200 served");
    await api.apply(secret);
    await resolved("True");
    await set([http]);
  });

  it(
    "a Gateway that is called otherwise is another one: what was said of routes is taken back, and they attach anew",
    async () => {
      const gateway = await api.get(gatewayApi, "Gateway", "default", "front");
      await api.delete(gateway);
      const { apiVersion, kind, spec } = gateway;
      const account = { name: "renamed", namespace: "default" };
      await api.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: account });
      await api.apply({ apiVersion, kind, metadata: account, spec });
      await eventually(
        async () => (await condition("root", "Accepted")) === undefined || null,
        "a route of which nothing is said: its Gateway is gone",
      );
      await api.apply(route("root", "/", {}, "renamed"));
      await eventually(
        async () => (await condition("root", "Accepted")) === "True" || null,
        "the route of the other Gateway",
      );
      // The data plane of a deleted Gateway continues until its pod is removed.
      await answered("/", "200 served");
    },
    PATIENCE,
  );
});

function thing(name: string): object {
  return { group: "x.example", kind: "Thing", name };
}
