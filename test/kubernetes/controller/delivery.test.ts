import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect, createServer } from "node:net";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import {
  type CertificatePair,
  selfSigned,
} from "../../../compiler/controller/admission/self-signed.ts";
import { atEnd } from "../../harness/at-end.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { missingPods, serviceManifest, sliceManifest } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { Workspace } from "../../harness/workspace.ts";
import { routeManifest } from "./route-manifest.ts";
import { startPod, startService } from "./simulated-pods.ts";

const missing = missingPods();

describeUnless(missing)("gwc controller and its data planes", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let controller: GwcProcess;
  let agent: GwcProcess;
  let port: number;
  let second: Awaited<ReturnType<typeof startPod>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    front = await FrontGateway.start();
    ({ api, port } = front);
    const first = await startPod("first");
    second = await startPod("second");
    await api.applyText("apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: stranger }\n");
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: other }
spec: { gatewayClassName: gwc, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
`);
    await api.applyText(serviceManifest("one", first.port));
    await api.applyText(serviceManifest("two", second.port));
    await api.applyText(routeManifest("one", "one"));
    controller = front.startController();
    await controller.seen(/leading/);
    env = await front.dataPlane();
    agent = await front.startDataPlane(env);
  }, 180_000);

  const get = (path: string) =>
    send(`http://127.0.0.1:${port}${path}`, "GET").catch(() => ({ status: 0, body: "" }));

  /** Waits until a path is answered like this. */
  function answered(path: string, status: number, body?: string): Promise<unknown> {
    let last = "";
    return eventually(
      async () => {
        const got = await get(path);
        last = `${got.status} ${got.body}`;
        return got.status === status && (body === undefined || got.body === body) ? got : null;
      },
      () => `${status} at ${path}, which is ${last}`,
    );
  }

  function programmed(status: string): Promise<unknown> {
    return eventually(async () => {
      const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
      const conditions: { type: string; status: string; observedGeneration: number }[] =
        found.status?.conditions ?? [];
      const own = conditions.find((each) => each.type === "Programmed");
      return own?.status === status && own.observedGeneration === found.metadata.generation
        ? own
        : null;
    }, `Programmed ${status}`);
  }

  it("a data plane serves what the API server has, and the Gateway is programmed", async () => {
    await answered("/one", 200, "first");
    await programmed("True");
  });

  it("a new route is served without a connection being closed", async () => {
    await api.applyText(routeManifest("two", "two"));
    await answered("/two", 200, "second");
    await answered("/one", 200, "first");
  });

  it("a pod that takes another one's place is called, and nothing is compiled", async () => {
    const before = compiled();
    const third = await startPod("third");
    await api.applyText(sliceManifest("two", third.port));
    // The other one still serves: what leads to it is left alone because it is no longer a pod of the Service.
    await answered("/two", 200, "third");
    second.stop();
    expect(compiled()).toBe(before);
  });

  it("over HTTP/2 a pod that leaves ends the streams that it has, and gets no others", async () => {
    const held: { end(text: string): void }[] = [];
    const pods = ["fourth", "fifth"].map((text) =>
      createHttp2Server((request, response) => {
        if (request.url !== "/streams/held") response.end(text);
        else held.push(response);
        if (request.url === "/streams/held") response.write(`${text} begins, `);
      }),
    );
    const [fourth = 0, fifth = 0] = await Promise.all(pods.map((pod) => listen(pod, "0.0.0.0")));
    await api.applyText(serviceManifest("streams", fourth, { appProtocol: "kubernetes.io/h2c" }));
    await api.applyText(routeManifest("streams", "streams"));
    await answered("/streams", 200, "fourth");
    const stream = send(`http://127.0.0.1:${port}/streams/held`, "GET");
    const response = await eventually(() => held[0] ?? null, "a stream");
    await api.applyText(sliceManifest("streams", fifth));
    // The one that leaves still listens, and its connection still has a stream.
    await answered("/streams", 200, "fifth");
    await answered("/streams", 200, "fifth");
    response.end("and ends");
    expect((await stream).body).toBe("fourth begins, and ends");
  });

  it("a route whose backend is missing answers 500, and lets no request fall through", async () => {
    await api.applyText(routeManifest("", "one").replace("name:  }", "name: root }"));
    await api.applyText(routeManifest("broken", "nothing"));
    await answered("/anything", 200, "first");
    await answered("/broken", 500);
    await answered("/one", 200, "first");
  });

  it("a policy with mistakes lets nothing through, and no other route suffers", async () => {
    const policy = {
      apiVersion: "gwc.dev/v1alpha1",
      kind: "GatewayPolicy",
      metadata: { name: "typo" },
    };
    const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "one" }];
    const authorization = { policy: { matchExpressions: ["request.method == "] } };
    await api.apply({ ...policy, spec: { targetRefs, traffic: { authorization } } });
    await answered("/one", 403);
    await answered("/anything", 200, "first");
    await api.delete(policy);
    await answered("/one", 200, "first");
  });

  it("a Secret that was there before a policy named it is used, and one that is rotated without compiling", async () => {
    const secret = (key: string) => ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "keys" } },
      stringData: { eve: key },
    });
    await api.apply(secret("old"));
    const policy = {
      apiVersion: "gwc.dev/v1alpha1",
      kind: "GatewayPolicy",
      metadata: { name: "keys" },
    };
    const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "one" }];
    const location = { queryParameter: { name: "key" } };
    const apiKeyAuthentication = { secretRef: { name: "keys" }, location };
    await api.apply({ ...policy, spec: { targetRefs, traffic: { apiKeyAuthentication } } });
    await answered("/one", 401);
    await answered("/one?key=old", 200, "first");
    const before = compiled();
    await api.apply(secret("new"));
    await answered("/one?key=new", 200, "first");
    await answered("/one?key=old", 401);
    expect(compiled()).toBe(before);
    await api.delete(policy);
    await answered("/one", 200, "first");
  });

  it("an object that nobody could read to its end is refused, and all others are served", async () => {
    for (const [name, levels] of [
      ["deep", 2_000],
      ["abyss", 9_000],
    ] as const) {
      const nested = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
      const head = {
        apiVersion: "gwc.dev/v1alpha1",
        kind: "GatewayParameters",
        metadata: { name },
      };
      const text = JSON.stringify({ ...head, spec: { deployment: { spec: null } } });
      const url = "/apis/gwc.dev/v1alpha1/namespaces/default/gatewayparameters";
      const said = await api.askText("POST", url, text.replace("null", nested));
      expect(said.status).toBe(201);
      await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name} }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: ${name} } }
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
`);
      await api.applyText(routeManifest(`second-${name}`, "one"));
      await answered(`/second-${name}`, 200, "first");
    }
    const restarted = startController(api);
    await restarted.seen(/ready/);
    await restarted.stop();
    for (const name of ["deep", "abyss"])
      for (const kind of ["Gateway", "GatewayParameters"]) {
        const group = kind === "Gateway" ? "gateway.networking.k8s.io/v1" : "gwc.dev/v1alpha1";
        await api.delete({ apiVersion: group, kind, metadata: { name } });
      }
  });

  it("who is no data plane of the Gateway gets nothing, and no Gateway but its own", async () => {
    const own = { ...(await front.dataPlane()), GWC_AGENT_DIR: temporaryFolder() };
    const token = await front.token("front", "https://kubernetes.default.svc");
    const elsewhere = new Workspace({ token }).path("token");
    const strangers = [
      [await front.dataPlane("stranger"), /cannot follow the controller .*stranger is not/],
      [
        { ...own, XDS_TOKEN_FILE: elsewhere },
        /cannot follow the controller .*its token is not good/,
      ],
      [{ ...own, GATEWAY: "other" }, /cannot follow the controller .*:front is not .*:other/],
      [
        { ...own, GATEWAY: "nobody" },
        /cannot follow the controller .*there is no Gateway default\/nobody/,
      ],
    ] as const;
    for (const [env, problem] of strangers) {
      const stranger = new GwcProcess(["agent"], {
        env: { ...env, GWC_AGENT_DIR: temporaryFolder() },
      });
      await stranger.seen(problem);
      expect(stranger.output).not.toContain("serving");
      await stranger.stop("SIGKILL");
    }
  });

  it("callers that send what no data plane would hold up nobody but themselves", async () => {
    const token = await front.token();
    const head = {
      ":method": "POST",
      ":path": "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
      ...{ "content-type": "application/grpc", te: "trailers", "gwc-gateway": "default/front" },
    };
    const call = (message: Buffer, headers: object = {}) =>
      new Promise<string>((resolve, reject) => {
        const session = connectHttp2(`http://127.0.0.1:${front.xdsPort}`);
        atEnd(() => session.destroy());
        session.on("error", reject);
        const stream = session.request({ ...head, ...headers });
        stream.on("trailers", (trailers) => resolve(String(trailers["grpc-status"])));
        stream.on("error", reject);
        stream.resume();
        stream.write(message);
      });
    const known = { authorization: `Bearer ${token}` };
    const frame = (...bytes: number[]) => Buffer.from([0, 0, 0, 0, bytes.length, ...bytes]);
    const garbage = frame(0xff, 0xff, 0xff);
    // PERMISSION_DENIED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED of compression as INTERNAL.
    expect(await call(garbage)).toBe("7");
    expect(await call(garbage, known)).toBe("3");
    expect(await call(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), known)).toBe("8");
    expect(await call(Buffer.from([1, 0, 0, 0, 0]), known)).toBe("13");
    // Of a caller that is not known nothing is read.
    expect(await call(Buffer.concat(Array.from({ length: 1000 }, () => frame())))).toBe("7");
    const refusals = controller.output.split("was refused").length;
    const strangers = Array.from({ length: 200 }, (_, index) =>
      call(frame(), { authorization: `Bearer stranger-${index % 20}` }),
    );
    expect(new Set(await Promise.all(strangers))).toEqual(new Set(["7"]));
    // Those that were told before and the burst are 50.
    expect(controller.output.split("was refused").length - refusals).toBeLessThanOrEqual(60);
    // Half-open: connections that say nothing, and calls whose responses nobody takes or reads.
    for (let index = 0; index < 200; index += 1) {
      const socket = connect(front.xdsPort, "127.0.0.1");
      socket.on("error", () => {});
      atEnd(() => socket.destroy());
      if (index % 2 === 0) socket.write("no HTTP/2 at all\r\n\r\n");
    }
    void call(frame(), known).catch(() => {});
    await api.applyText(routeManifest("among-others", "one"));
    await answered("/among-others", 200, "first");
    expect(controller.hasEnded).toBe(false);
  });

  it("without a controller the data plane continues and restarts with its last configuration", async () => {
    await controller.stop();
    await agent.stop("SIGKILL");
    agent = new GwcProcess(["agent"], { env });
    await agent.seen(/serving generation \w+ from disk/);
    await answered("/one", 200, "first");
    controller = front.startController();
    await controller.seen(/leading/);
    await api.applyText(routeManifest("again", "one"));
    await answered("/again", 200, "first");
    await programmed("True");
    await agent.stop("SIGKILL");
    await controller.stop();
  });

  it("a data plane whose last generation cannot be served gets everything again", async () => {
    controller = front.startController();
    const folder = temporaryFolder();
    const own = { ...env, GWC_AGENT_DIR: folder };
    agent = new GwcProcess(["agent"], { env: own });
    await agent.seen(/serving generation/);
    await agent.stop("SIGKILL");
    const modules = path.join(folder, "modules");
    for (const name of readdirSync(modules)) writeFileSync(path.join(modules, name), "damaged");
    agent = new GwcProcess(["agent"], { env: own });
    await agent.seen(/the last generation cannot be served/);
    await answered("/one", 200, "first");
    await agent.stop("SIGKILL");
    // Another process still has a port: the generation is tried again until the port is free.
    const holder = createServer();
    atEnd(() => holder.close());
    await once(holder.listen(front.statsPort, "127.0.0.1"), "listening");
    agent = new GwcProcess(["agent"], { env: own });
    await agent.seen(/refused: .*the port is in use/);
    holder.close();
    await answered("/one", 200, "first");
    await programmed("True");
    await agent.stop("SIGKILL");
    await controller.stop();
  });

  it("a certificate that is renewed on disk serves new connections, and a broken one changes nothing", async () => {
    const [first, second] = [selfSigned(["127.0.0.1"], 30), selfSigned(["127.0.0.1"], 30)];
    const files = new Workspace(mounted(first));
    const serving = startController(api, "--xds-tls", files.path("."));
    const [, place] = await serving.seen(/ready; serving data planes on port (\d+)/);
    const trusting = (pair: { readonly cert: string }) => ({
      ...{ ...env, XDS_ADDRESS: `https://127.0.0.1:${place}`, GWC_AGENT_DIR: temporaryFolder() },
      XDS_ROOT_CA: new Workspace({ ca: pair.cert }).path("ca"),
    });
    const early = new GwcProcess(["agent"], { env: trusting(first) });
    await early.seen(/following/);
    const late = new GwcProcess(["agent"], { env: trusting(second) });
    await late.seen(/cannot follow the controller/);
    files.write("tls.key", second.key);
    await serving.seen(/the old certificate stays in use/);
    for (const [name, text] of Object.entries(mounted(second))) files.write(name, text);
    await serving.seen(/served with another certificate/);
    await late.seen(/following/);
    expect(early.output).not.toContain("cannot follow the controller");
    for (const each of [early, late]) await each.stop("SIGKILL");
    await serving.stop();
  });

  function mounted({ cert, key }: CertificatePair): Record<string, string> {
    return { "tls.crt": cert, "tls.key": key, "ca.crt": cert };
  }

  it("any replica serves data planes, and one that leads says what they made of it", async () => {
    const leader = front.startController();
    await leader.seen(/leading/);
    const standby = startController(api);
    const [, standbyPort] = await standby.seen(/ready; serving data planes on port (\d+)/);
    const first = new GwcProcess(["agent"], { env: { ...env, XDS_ADDRESS: urlOf(standbyPort) } });
    await first.seen(/following/);
    await api.applyText(routeManifest("found", "one"));
    await restated();
    await programmed("True");
    expect(leader.output).not.toContain("has 1 data planes");
    await first.stop("SIGKILL");
    // The Service of both: a connection goes to one that is there.
    const place = await startService([front.xdsPort, Number(standbyPort)]);
    const second = new GwcProcess(["agent"], { env: { ...env, XDS_ADDRESS: urlOf(place) } });
    await leader.seen(/has 1 data planes/);
    await leader.stop("SIGKILL");
    // Nobody leads as long as this test has the Lease.
    await hold("test");
    await api.delete({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "broken" },
    });
    await answered("/broken", 200, "first");
    await second.seen(/cannot follow the controller/);
    expect(standby.output).not.toContain("leading");
    await restated();
    await hold("");
    await standby.seen(/leading/);
    await programmed("True");
  });

  const urlOf = (own: number | string | undefined) => `http://127.0.0.1:${own}`;

  /** Changes the Gateway, so that its status has to be written anew. */
  async function restated(): Promise<void> {
    const url = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/front";
    const { body } = await api.ask("GET", url);
    const [first] = body.spec.listeners;
    const hostname = `h${body.metadata.generation}.example.com`;
    const listeners = [first, { ...first, name: "more", hostname }];
    await api.ask("PATCH", url, { spec: { listeners } }, "application/merge-patch+json");
  }

  /** Takes the Lease for an hour, or gives it up. */
  async function hold(holderIdentity: string): Promise<void> {
    const url = "/apis/coordination.k8s.io/v1/namespaces/default/leases/gwc-controller";
    const spec = { holderIdentity, leaseDurationSeconds: 3600 };
    await api.ask("PATCH", url, { spec }, "application/merge-patch+json");
  }

  /** How often gateways were compiled. */
  function compiled(): number {
    return [...controller.output.matchAll(/compiled \d+ gateways/g)].length;
  }
});
