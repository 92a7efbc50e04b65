import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { startEnvoyServices } from "../../harness/envoy-services.ts";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { startMcpServer } from "../../harness/mcp-server.ts";
import {
  missingPods,
  podAddress,
  serviceManifest,
  sliceManifest,
} from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { SessionReplica } from "../../harness/session-replica.ts";
import { describeUnless } from "../../harness/skip.ts";
import { Workspace } from "../../harness/workspace.ts";
import { listed } from "./listed-tools.ts";
import { OLD_POOLS, type PoolParent, poolDefinition } from "./pool-definition.ts";

const missing = missingPods();
const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec: { gatewayClassName: gwc, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
`;

describeUnless(missing)("backends that are found while gateways serve", () => {
  let api: KubernetesApi;
  let port: number;
  let controller: GwcProcess;

  beforeAll(async () => {
    const front = await FrontGateway.start();
    ({ api, port } = front);
    await api.applyText(poolDefinition);
    controller = front.startController("--inference-extension");
    await controller.seen(/leading/);
    await front.startDataPlane();
  }, 180_000);

  it("tools of Services that a selector finds come and go with their labels", async () => {
    const server = await startMcpServer("::");
    const tools = (name: string, label: string) =>
      serviceManifest(name, server.port, { labels: `tools: ${label}`, appProtocol: "gwc.dev/mcp" });
    await api.applyText(tools("math", "yes-1"));
    await api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: all, selector: { services: { matchLabels: { tools: yes-1 } } } }] } }
---${routeTo("tools", "/mcp")}`);
    await listed(port, (names) => names.includes("hello"));
    await api.applyText(tools("text", "yes-1"));
    const both = await listed(port, (names) => names.some((name) => name.includes("text")));
    expect(both).toContain("all-math_hello");
    expect(both).toContain("all-text_hello");
    await api.applyText(tools("math", "no-1"));
    await listed(port, (names) => names.includes("hello"));
  });

  it("a lock in a ConfigMap decides which tools there are, from when it comes and as it is changed", async () => {
    const server = await startMcpServer();
    const locked = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: { name: locked }
spec:
  mcp:
    toolLock: { name: tools-lock }
    targets: [{ name: a, static: { host: 127.0.0.1, port: ${server.port} } }]
---${routeTo("locked", "/locked")}`;
    const manifests = new Workspace({ "m/all.yaml": `${GATEWAY}---${locked}` });
    const locking = new GwcProcess(["lock", "m"], { cwd: manifests.folder });
    expect(await locking.exited, locking.output).toBe(0);
    const approved = parse(readFileSync(manifests.path("m/tools-lock.configmap.yaml"), "utf8"));
    const lock = parse(approved.data["gwc.lock.yaml"]);
    const [{ tools }] = lock.targets;
    /** Applies the lock with these tools, as somebody does who has approved no others. */
    const approve = (own: object) => {
      const text = stringify({ ...lock, targets: [{ ...lock.targets[0], tools: own }] });
      return api.apply({ ...approved, data: { "gwc.lock.yaml": text } });
    };
    await api.applyText(locked);
    await eventually(async () => {
      const found = await api.get("gwc.dev/v1alpha1", "GatewayBackend", "default", "locked");
      return /tools-lock/.test(JSON.stringify(found.status ?? {})) || null;
    }, "a status that names the ConfigMap that is not there");
    await approve(tools);
    const exactly = (...names: string[]) =>
      listed(port, (found) => found.join() === names.join(), "/locked");
    await exactly("hello", "add", "drop");
    await approve({ hello: tools.hello, add: tools.add });
    await exactly("hello", "add");
    await approve({ hello: { digests: { description: "a".repeat(43) } }, add: tools.add });
    await exactly("add");
  });

  it("a session stays at its replica until that is gone", async () => {
    const replicas = [new SessionReplica("first"), new SessionReplica("second")];
    const [one = 0, two = 0] = await Promise.all(
      replicas.map(({ listener }) => listen(createHttpServer(listener), "::")),
    );
    const fields = { labels: "own: replicated", appProtocol: "gwc.dev/mcp" };
    await api.applyText(serviceManifest("replicated", one, fields));
    const slice = sliceManifest("replicated", two).replace("name: replicated,", "name: second,");
    await api.applyText(slice);
    await api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: { name: replicated }
spec:
  mcp:
    sessionRouting: Stateful
    targets: [{ name: all, selector: { services: { matchLabels: { own: replicated } } } }]
---${routeTo("replicated", "/replicated")}`);
    await listed(port, (names) => names.includes("where"), "/replicated");
    const open = async () => {
      const client = new Client({ name: "test", version: "1.0.0" });
      const url = new URL(`http://127.0.0.1:${port}/replicated`);
      const transport = new StreamableHTTPClientTransport(url);
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      /** Returns the session's replica, or the status with which it ends. */
      const where = async (): Promise<string> => {
        const asked = client.callTool({ name: "where" });
        const [answer] = await asked.then(
          ({ content }) => content as { text: string }[],
          ({ code }) => [{ text: String(code) }],
        );
        return answer?.text ?? "";
      };
      return { client, where, began: await where() };
    };
    await eventually(async () => {
      const { client, began } = await open();
      await client.close();
      return began === "second" || null;
    }, "a session at the second replica");
    const sessions = await Promise.all(Array.from({ length: 16 }, open));
    const began = sessions.map((session) => session.began);
    expect(new Set(began)).toEqual(new Set(["first", "second"]));
    const answers = () => Promise.all(sessions.map(({ where }) => where()));
    for (let call = 0; call < 4; call += 1) expect(await answers()).toEqual(began);
    await api.delete({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "second" },
    });
    await expect.poll(answers).toEqual(began.map(() => "first"));
    expect(replicas.map(({ foreign }) => foreign)).toEqual([[], []]);
    for (const { client } of sessions) await client.close();
  });

  it("a picker chooses from the pods of a pool that are ready, and no Service has to name them", async () => {
    const models = createHttpServer((_, response) => response.end("model"));
    const modelPort = await listen(models, "::");
    const picker = await startEnvoyServices();
    // The picker is on loopback, and an EndpointSlice can't say that.
    const pickerPort = await listen(
      createServer((socket) => {
        const target = connect(picker.port, "127.0.0.1");
        socket.pipe(target).pipe(socket);
        socket.on("error", () => target.destroy());
        target.on("error", () => socket.destroy());
      }),
      "::",
    );
    await api.applyText(serviceManifest("picker", pickerPort));
    await api.applyText(`
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: models }
spec:
  selector: { matchLabels: { app: models } }
  targetPorts: [{ number: ${modelPort} }, { number: 9 }]
  endpointPickerRef: { name: picker, port: { number: 80 } }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: models }
spec:
  parentRefs: [{ name: front }]
  rules:
    - matches: [{ path: { value: /models } }]
      backendRefs: [{ group: inference.networking.k8s.io, kind: InferencePool, name: models }]
---
apiVersion: v1
kind: Pod
metadata: { name: model-0, labels: { app: models } }
spec: { containers: [{ name: model, image: model }] }
`);
    const endpoint = `${podAddress}:${modelPort}`;
    const ask = async () => {
      const value = Buffer.from(endpoint).toString("base64");
      const key = "x-gateway-destination-endpoint";
      const mutation = { set_headers: [{ header: { key, raw_value: value } }] };
      const script = {
        request_headers: { request_headers: { response: { header_mutation: mutation } } },
      };
      const headers = { "x-process": JSON.stringify(script) };
      const got = await send(`http://127.0.0.1:${port}/models`, "POST", headers, "hello");
      return `${got.status} ${got.body}`;
    };
    const answered = (wanted: RegExp) => {
      let last = "";
      return eventually(
        async () => {
          last = await ask().catch(String);
          return wanted.test(last) ? last : null;
        },
        () => `${wanted}, which is ${last}`,
      );
    };
    // Nobody has said that the pod is ready.
    await answered(/^503 /);
    await ready("model-0", "True");
    await answered(/^200 model$/);
    const offered = () => picker.seen().map(({ message }) => JSON.stringify(message));
    const choice = `"x-gateway-destination-endpoint-subset":["${podAddress}:${modelPort}","${podAddress}:9"]`;
    await eventually(async () => {
      await ask();
      return offered().find((each) => each.includes(choice)) ?? null;
    }, choice);
    const before = compiled();
    await ready("model-0", "False");
    await answered(/^503 /);
    await ready("model-0", "True");
    await answered(/^200 model$/);
    // It leaves with its labels, and comes back with them.
    const label = (app: string) => {
      const url = "/api/v1/namespaces/default/pods/model-0";
      const patch = { metadata: { labels: { app } } };
      return api.ask("PATCH", url, patch, "application/merge-patch+json");
    };
    await label("others");
    await answered(/^503 /);
    await label("models");
    await answered(/^200 model$/);
    expect(compiled()).toBe(before);
  });

  it("a pool's status names its Gateways and mistakes, next to the statuses of others", async () => {
    const path = "/apis/inference.networking.k8s.io/v1/namespaces/default/inferencepools/models";
    const pool = async () => (await api.ask("GET", path)).body;
    const said = (wanted: readonly string[]) => {
      let last = "";
      return eventually(
        async () => {
          const { status } = await pool();
          const lines = (status?.parents ?? []).map(
            ({ parentRef, controllerName, conditions }: PoolParent) =>
              [
                ...[parentRef.name, controllerName ?? "nobody"],
                ...conditions.map(({ type, reason }) => `${type} ${reason}`),
              ].join(", "),
          );
          last = lines.join("; ");
          return last === wanted.join("; ") || null;
        },
        () => `${wanted.join("; ")}, which is ${last}`,
      );
    };
    const own = (controller: string, ...conditions: string[]) =>
      ["front", controller, ...conditions].join(", ");
    const good = ["Accepted Accepted", "ResolvedRefs ResolvedRefs"];
    await said([own("gwc.dev/gateway", ...good)]);
    const { status } = await pool();
    const other = {
      parentRef: { name: "elsewhere" },
      controllerName: "other.example/controller",
      conditions: [{ ...status.parents[0].conditions[0], reason: "Fine" }],
    };
    const parents = [other, ...status.parents];
    const merge = "application/merge-patch+json";
    await api.ask("PATCH", `${path}/status`, { status: { parents } }, merge);
    const asks = (name: string) =>
      api.ask("PATCH", path, { spec: { endpointPickerRef: { name } } }, merge);
    await asks("nobody");
    const others = "elsewhere, other.example/controller, Accepted Fine";
    const broken = ["Accepted Accepted", "ResolvedRefs InvalidExtensionRef"];
    await said([others, own("gwc.dev/gateway", ...broken)]);
    await asks("picker");
    await said([others, own("gwc.dev/gateway", ...good)]);
    const route = await api.get("gateway.networking.k8s.io/v1", "HTTPRoute", "default", "models");
    await api.delete(route);
    await said([others]);
    // The first definitions of the kind do not keep who wrote an entry.
    await api.applyText(poolDefinition.replace("controllerName: { type: string }, ", ""));
    const { apiVersion, kind, spec } = route;
    await api.apply({ apiVersion, kind, metadata: { name: "models" }, spec });
    await said(["elsewhere, nobody, Accepted Fine", own("nobody", ...good)]);
    // Dropped statuses are not written repeatedly.
    const version = async () => (await pool()).metadata.resourceVersion;
    const before = await version();
    await api.apply({ apiVersion, kind, metadata: { name: "marker" }, spec });
    await eventually(async () => {
      const marker = await api.get(apiVersion, kind, "default", "marker");
      return marker.status?.parents?.length === 1 || null;
    }, "the status of another route");
    expect(await version()).toBe(before);
  });

  it("a pool of v1alpha2 says the same in its own words, and waits again when nobody leads there", async () => {
    await api.applyText(OLD_POOLS);
    const pools = "/apis/inference.networking.x-k8s.io/v1alpha2/inferencepools";
    await eventually(
      async () => (await api.ask("GET", pools)).status === 200 || null,
      "the kind of v1alpha2",
    );
    await api.applyText(`
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferencePool
metadata: { name: older }
spec:
  selector: { app: older }
  targetPortNumber: 9
  extensionRef: { name: picker, portNumber: 80 }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: older }
spec:
  parentRefs: [{ name: front }]
  rules:
    - matches: [{ path: { value: /older } }]
      backendRefs: [{ group: inference.networking.x-k8s.io, kind: InferencePool, name: older }]
`);
    const path =
      "/apis/inference.networking.x-k8s.io/v1alpha2/namespaces/default/inferencepools/older";
    const said = (wanted: readonly string[]) => {
      let last = "";
      return eventually(
        async () => {
          const { status } = (await api.ask("GET", path)).body;
          const lines = (status?.parent ?? []).map(({ parentRef, conditions }: PoolParent) => {
            const { apiVersion = "", kind = "", name } = parentRef;
            const reasons = conditions.map(({ type, reason }) => `${type} ${reason}`);
            return [apiVersion, kind, name, ...reasons].join(", ");
          });
          last = lines.join("; ");
          return last === wanted.join("; ") || null;
        },
        () => `${wanted.join("; ")}, which is ${last}`,
      );
    };
    const front = "gateway.networking.k8s.io/v1, Gateway, front, Accepted Accepted";
    await said([`${front}, ResolvedRefs ResolvedRefs`]);
    const extensionRef = { name: "nobody" };
    await api.ask("PATCH", path, { spec: { extensionRef } }, "application/merge-patch+json");
    await said([`${front}, ResolvedRefs InvalidExtensionRef`]);
    const { apiVersion, kind, metadata } = await api.get(
      ...(["gateway.networking.k8s.io/v1", "HTTPRoute", "default", "older"] as const),
    );
    await api.delete({ apiVersion, kind, metadata });
    await said([", Status, default, Accepted Pending"]);
  });

  /** Says of a pod what its kubelet would. */
  async function ready(name: string, status: string): Promise<void> {
    const url = `/api/v1/namespaces/default/pods/${name}/status`;
    const conditions = [{ type: "Ready", status }];
    const podIPs = [{ ip: podAddress }];
    await api.ask(
      "PATCH",
      url,
      { status: { podIP: podAddress, podIPs, conditions } },
      "application/merge-patch+json",
    );
  }

  /** How often gateways were compiled. */
  function compiled(): number {
    return [...controller.output.matchAll(/compiled \d+ gateways/g)].length;
  }
});

/** A route to a GatewayBackend. */
function routeTo(backend: string, path: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${backend} }
spec:
  parentRefs: [{ name: front }]
  rules:
    - matches: [{ path: { value: ${path} } }]
      backendRefs: [{ group: gwc.dev, kind: GatewayBackend, name: ${backend} }]
`;
}
