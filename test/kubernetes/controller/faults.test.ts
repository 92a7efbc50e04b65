import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { DiscoveryClient } from "../../../runtime/discovery/discovery-client.ts";
import { atEnd } from "../../harness/at-end.ts";
import { startControllerWith } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePorts } from "../../harness/free-port.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { pause } from "../../harness/pause.ts";
import { missingPods, serviceManifest } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { describeUnless, itUnless, NOT_LONG } from "../../harness/skip.ts";
import { type Load, startLoad } from "../../harness/steady-load.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";

const missing = NOT_LONG ?? missingPods();
const isRoot = process.getuid?.() === 0;
/** Milliseconds: a Lease is taken over after 15 seconds, and some faults last a minute. */
const PATIENCE = 600_000;

describeUnless(missing)("faults around gwc controller", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let port: number;
  let env: Record<string, string>;
  /** The route's version: responses and statuses say which one they are of. */
  let version = 0;
  let load: Load | undefined;

  beforeAll(async () => {
    front = await FrontGateway.start();
    ({ api, port } = front);
    const backend = await listen(
      createServer((_, response) => response.end("ok")),
      "0.0.0.0",
    );
    await api.applyText(serviceManifest("one", backend));
    await change();
    env = await front.dataPlane();
  }, 180_000);

  beforeEach(async () => {
    load = undefined;
    await api.restore();
  });

  /** Despite all faults, the data plane has answered every request. */
  afterEach(async () => {
    expect(await load?.stop()).toBeGreaterThan(0);
    expect(load?.failures).toEqual([]);
  });

  const route = (name: string, value: number, prefix = "/") => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: front }]
  rules:
    - matches: [{ path: { value: ${prefix} } }]
      filters:
        - type: ResponseHeaderModifier
          responseHeaderModifier: { set: [{ name: x-version, value: "${value}" }] }
      backendRefs: [{ name: one, port: 80 }]
`;

  async function change(): Promise<void> {
    await api.applyText(route("one", version + 1));
    version += 1;
  }

  const controller = (...options: string[]) => front.startController(...options);

  /** A data plane that is asked without a pause from when it serves. */
  async function startAgent(folder = temporaryFolder()): Promise<GwcProcess> {
    const agent = new GwcProcess(["agent"], { env: { ...env, GWC_AGENT_DIR: folder } });
    await served();
    load = startLoad(() => `http://127.0.0.1:${port}/`);
    return agent;
  }

  /** The newest version is served, and statuses are about it. */
  async function settled(): Promise<void> {
    await served();
    await eventually(async () => {
      const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
      return isTrue(found, found.status?.conditions, "Programmed") || null;
    }, "the Gateway to be programmed");
    await eventually(async () => (await isWritten("one")) || null, "the status of the route");
  }

  async function isWritten(name: string): Promise<boolean> {
    const found = await api.get("gateway.networking.k8s.io/v1", "HTTPRoute", "default", name);
    return isTrue(found, found.status?.parents?.[0]?.conditions, "Accepted");
  }

  function isTrue(
    { metadata }: { metadata: { generation: number } },
    conditions: { type: string; status: string; observedGeneration: number }[] = [],
    type: string,
  ): boolean {
    const own = conditions.find((each) => each.type === type);
    return own?.status === "True" && own.observedGeneration === metadata.generation;
  }

  function served(): Promise<unknown> {
    return eventually(async () => {
      const got = await send(`http://127.0.0.1:${port}/`, "GET").catch(() => undefined);
      return got?.headers["x-version"] === String(version) || null;
    }, `version ${version}`);
  }

  it(
    "a controller may be killed whenever it likes",
    async () => {
      const first = controller();
      const agent = await startAgent();
      await settled();
      await first.stop("SIGKILL");
      const phases = [/watching/, /ready|compiled/, /has 1 data planes/, /leading/];
      for (const phase of phases) {
        await change();
        const next = controller();
        await next.seen(phase);
        await next.stop("SIGKILL");
      }
      // Among statuses: some are written, and most are not.
      const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
      for (const name of names) await api.applyText(route(name, 1, `/${name}`));
      const writing = controller();
      await eventually(async () => (await isWritten("many-0")) || null, "the first status");
      await writing.stop("SIGKILL");
      await change();
      controller();
      await settled();
      for (const name of names)
        await eventually(async () => (await isWritten(name)) || null, `the status of ${name}`);
      for (const name of names)
        await api.delete({
          ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
          metadata: { name },
        });
      await agent.seen(/following[\s\S]*cannot follow the controller[\s\S]*following/);
    },
    PATIENCE,
  );

  it(
    "a watch from a place that the API server no longer knows begins anew",
    async () => {
      const metrics = await freePorts(1);
      const running = controller("--metrics-port", String(metrics[0]));
      await startAgent();
      await settled();
      const lists = async () => {
        const { body } = await send(`http://127.0.0.1:${metrics[0]}/metrics`, "GET");
        return Number(/^gwc_controller_lists_total (\d+)$/m.exec(body)?.[1]);
      };
      const before = await lists();
      // While it is stopped, everything continues, and the API server forgets old versions.
      running.signal("SIGSTOP");
      await api.applyText(route("gone", 1, "/gone"));
      await change();
      await api.delete({
        ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
        metadata: { name: "gone" },
      });
      await api.killServer();
      await api.startServer();
      await change();
      running.signal("SIGCONT");
      await settled();
      expect(await lists()).toBeGreaterThan(before);
      expect(running.output).not.toMatch(/status 410|too old/);
    },
    PATIENCE,
  );

  it(
    "etcd may be away for a minute",
    async () => {
      controller();
      const agent = await startAgent();
      await settled();
      await api.killEtcd();
      await pause(60_000);
      expect(agent.hasEnded).toBe(false);
      api.startEtcd();
      await eventually(async () => {
        const isChanged = await change().then(
          () => true,
          () => null,
        );
        return isChanged;
      }, "the API server");
      await settled();
    },
    PATIENCE,
  );

  it(
    "clocks that are an hour off choose one leader, and the next one when that is gone",
    async () => {
      const later = { NODE_OPTIONS: shifted(1) };
      const leader = startControllerWith(later, api, "--xds-port", String(front.xdsPort));
      await startAgent();
      await settled();
      const earlier = { NODE_OPTIONS: shifted(-1) };
      const other = startControllerWith(earlier, api);
      await other.seen(/ready/);
      // Renewals of both would have to be compared for the other one to think that it may lead.
      const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/gwc-controller";
      const renewed = async () => String((await api.ask("GET", lease)).body.spec.renewTime);
      const before = await renewed();
      await eventually(async () => ((await renewed()) === before ? null : true), "a renewal");
      expect(other.output).not.toContain("leading");
      await leader.stop("SIGKILL");
      await other.seen(/leading/);
      await other.stop();
      await change();
      startControllerWith(later, api, "--xds-port", String(front.xdsPort));
      await settled();
    },
    PATIENCE,
  );

  itUnless(isRoot ? undefined : "needs root, to mount a small disk")(
    "a data plane with a full disk continues, reports it, and applies the change when there is room",
    async () => {
      const disk = temporaryFolder();
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
      atEnd(() => execFileSync("umount", ["--lazy", disk]));
      controller();
      await startAgent(path.join(disk, "agent"));
      await settled();
      const filler = path.join(disk, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(8 * 1024 * 1024))).toThrow("ENOSPC");
      await change();
      const message = await eventually(async () => {
        const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
        const own = found.status.conditions.find(
          ({ type }: { type: string }) => type === "Programmed",
        );
        return own.status === "False" && /ENOSPC|space/.test(own.message) ? own.message : null;
      }, "the Gateway's status");
      expect(message).toContain("a data plane keeps its previous state");
      rmSync(filler);
      await settled();
    },
    PATIENCE,
  );

  it(
    "200 data planes that come back at once are served, and the Gateway is programmed with all",
    async () => {
      const metrics = await freePorts(1);
      const running = controller();
      await startAgent();
      await settled();
      const token = await front.token();
      const clients = Array.from({ length: 200 }, (_, index) => {
        const known = new Map<string, Record<string, string>>();
        return new DiscoveryClient({
          controller: {
            url: `http://127.0.0.1:${front.xdsPort}`,
            connectTimeout: 10_000,
            credential: ({ headers }) => {
              headers.push("authorization", `Bearer ${token}`);
            },
          },
          ...{ gateway: "default/front", node: `node-${index}`, log: () => {} },
          known: (type) => known.get(type) ?? {},
          take: ({ type, changed, removed }) => {
            const own = { ...known.get(type) };
            for (const { name, version: its } of changed) own[name] = its;
            for (const name of removed) delete own[name];
            known.set(type, own);
            return Promise.resolve(undefined);
          },
        });
      });
      atEnd(() => {
        for (const client of clients) client.stop();
      });
      await running.seen(/has 201 data planes/);
      await running.stop("SIGKILL");
      await change();
      const next = controller("--metrics-port", String(metrics[0]));
      await next.seen(/has 201 data planes/);
      await settled();
      const { body } = await send(`http://127.0.0.1:${metrics[0]}/metrics`, "GET");
      expect(body).toMatch(/^gwc_controller_data_planes 201$/m);
    },
    PATIENCE,
  );
});

/** Options of Node.js with which a process thinks that it is some hours later. */
function shifted(hours: number): string {
  const code = `const Real = Date; const now = () => Real.now() + ${hours * 3_600_000};
    globalThis.Date = class extends Real {
      constructor(...given) { if (given.length === 0) super(now()); else super(...given); }
      static now() { return now(); }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}
