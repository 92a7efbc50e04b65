import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { atEnd } from "../../harness/at-end.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePorts } from "../../harness/free-port.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import {
  type KubernetesApi,
  missingApiServer,
  type TestObject,
} from "../../harness/kubernetes-api.ts";
import { pause } from "../../harness/pause.ts";
import { startScripted } from "../../harness/scripted.ts";
import { describeUnless } from "../../harness/skip.ts";
import { RandomSource } from "../../inspect/random-rules.ts";
import {
  ALWAYS_DENIED,
  askAs,
  askSecurelyAs,
  deniedPath,
  KeyPairs,
  randomTenantX,
  TENANTS,
  type Tenant,
  tenantObjects,
  tenantSecrets,
} from "../chaos.ts";

const missing = missingApiServer();
/** Changes of tenant X that the API server takes; the long form makes more of them from another seed each time. */
const isLong = process.env.GWC_LONG_TESTS !== undefined;
const STEPS = Number(process.env.GWC_CHAOS_STEPS ?? (isLong ? 1_000 : 15));
const SEED = Number(process.env.GWC_CHAOS_SEED ?? (isLong ? Date.now() % 1_000_000 : 1));
/** The folder in which the long form writes how long changes took. */
const REPORT = path.join(tmpdir(), "gwc-chaos");

interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

describeUnless(missing)("a tenant with mistakes on a real API server", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let controller: GwcProcess;
  let agent: GwcProcess;
  let tls = 0;
  let extra = 0;
  let servers: readonly number[] = [];
  let pairs: KeyPairs;
  const random = new RandomSource(SEED);

  beforeAll(async () => {
    pairs = new KeyPairs();
    front = await FrontGateway.start();
    ({ api } = front);
    await api.installGatewayApi("experimental");
    [tls = 0, extra = 0] = await freePorts(2);
    const started = await Promise.all(
      ["first", "second"].map((text) => startScripted((response) => response.end(text))),
    );
    servers = started.map(({ host }) => Number(host.split(":")[1]));
    await api.applyText(`
apiVersion: v1
kind: Namespace
metadata: { name: x }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: front } }
  allowedListeners: { namespaces: { from: All } }
  listeners: [{ name: http, port: ${front.port}, protocol: HTTP, allowedRoutes: { namespaces: { from: All } } }]
`);
    await api.apply(...secretsOf(tenantSecrets(0, pairs)), ...objectsAt(0));
    controller = front.startController();
    await controller.seen(/leading/);
    agent = await front.startDataPlane();
  }, 300_000);

  const objectsAt = (step: number) => {
    const ports = { a: servers[step % 2] ?? 0, b: servers[(step + 1) % 2] ?? 0 };
    return tenantObjects({ step, ports }, tls) as readonly object[] as readonly TestObject[];
  };

  function secretsOf(
    secrets: ReturnType<typeof tenantSecrets>,
    namespace = "default",
  ): readonly TestObject[] {
    return Object.entries(secrets).map(([name, entries]) => ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } },
      data: Object.fromEntries(
        Object.entries(entries).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
      ),
    }));
  }

  /** Applies what the API server takes of a random state of tenant X; resolves with how many objects it took. */
  async function changeTenantX(): Promise<number> {
    const { objects, secrets } = randomTenantX(random, { http: front.port, tls, extra });
    const all = [...secretsOf(secrets, "x"), ...(objects as readonly object[] as TestObject[])];
    const asked = await Promise.all(
      all.map(async (each) => {
        if (random.below(12) === 0) await api.delete(each);
        const said = await api.ask(
          "PATCH",
          `${api.url(each)}?fieldManager=x&force=true`,
          each,
          "application/apply-patch+yaml",
        );
        const kind = `${each.kind} ${said.status < 300 ? "taken" : "refused"}`;
        counts[kind] = (counts[kind] ?? 0) + 1;
        return said.status < 300 && each.kind !== "Secret";
      }),
    );
    return asked.filter(Boolean).length;
  }

  const counts: Record<string, number> = {};
  /** Milliseconds until changes were in force, and until statuses reported it, by the kind of change. */
  const latencies: Record<string, number[]> = {};

  async function measured(what: string, look: () => Promise<boolean>): Promise<void> {
    const start = performance.now();
    await eventually(async () => ((await look().catch(() => false)) ? true : null), what);
    const kind = what.replace(/ of tenant .*/, "");
    latencies[kind] = [...(latencies[kind] ?? []), performance.now() - start];
  }

  async function statusOf(object: TestObject): Promise<{
    readonly generation: number;
    readonly text: string;
    readonly conditions: readonly StatusCondition[];
  }> {
    const { apiVersion, kind, metadata } = object;
    const found = await api.get(apiVersion, kind, "default", metadata.name);
    const { conditions = [], ancestors = [], parents = [], listeners = [] } = found?.status ?? {};
    const owners: readonly { readonly conditions: readonly StatusCondition[] }[] = [
      ...[{ conditions }, ...ancestors, ...parents, ...listeners],
    ];
    return {
      generation: found?.metadata.generation ?? 0,
      text: JSON.stringify(found?.status),
      conditions: owners.flatMap((each) => each.conditions),
    };
  }

  /** Whether the newest generation of an object is said to be in force. */
  async function isSaidToBeInForce(object: TestObject): Promise<boolean> {
    const { generation, conditions } = await statusOf(object);
    const own = conditions.filter(
      ({ type }) => !["Conflicted", "OverlappingTLSConfig"].includes(type),
    );
    return (
      own.length > 0 &&
      own.every(
        ({ status, observedGeneration }) => status === "True" && observedGeneration === generation,
      )
    );
  }

  /** Applies the changes of a tenant at a step, each after the one before is in force. */
  async function changeTenant(tenant: Tenant, step: number): Promise<void> {
    const at = `of tenant ${tenant} at step ${step}`;
    const isOwn = ({ metadata }: TestObject) => metadata.name.endsWith(`-${tenant}`);
    const own = objectsAt(step).filter(isOwn);
    const secrets = secretsOf(tenantSecrets(step, pairs)).filter(isOwn);
    const ofKind = (kind: string) => own.filter((each) => each.kind === kind);
    const ask = (where: string, key: number) => askAs(tenant, front.port, where, key);
    await api.apply(...ofKind("GatewayPolicy"));
    const [policy] = ofKind("GatewayPolicy");
    const isDenied = async () => (await ask(deniedPath(step), step - 1)) === 403;
    const isSaid = async () => {
      await measured(
        `status of the deny rule ${at}`,
        async () => policy !== undefined && (await isSaidToBeInForce(policy)),
      );
      expect([at, await isDenied()]).toEqual([at, true]);
    };
    await Promise.all([measured(`deny rule ${at}`, isDenied), isSaid()]);
    await api.apply(...secrets.filter(({ metadata }) => metadata.name.startsWith("keys")));
    await measured(`revoked key ${at}`, async () => (await ask("/", step - 1)) === 401);
    await measured(`new key ${at}`, async () => (await ask(deniedPath(step), step)) === 403);
    await api.apply(
      ...secrets.filter(({ metadata }) => metadata.name.startsWith("cert")),
      ...ofKind("GatewayBackend"),
    );
    const { certificate } = pairs.at(tenant, step);
    const served = (step + (tenant === "a" ? 0 : 1)) % 2 === 0 ? "first" : "second";
    await Promise.all([
      measured(`backend ${at}`, async () => (await ask("/", step)) === served),
      measured(
        `certificate ${at}`,
        async () => (await askSecurelyAs(tenant, tls, "/", step)).certificate === certificate,
      ),
    ]);
    const secure = await askSecurelyAs(tenant, tls, deniedPath(step), step);
    expect([at, secure]).toEqual([at, { status: 403, certificate }]);
  }

  /** Checks which parts of A, B and the Gateway are reported as not in force, once the newest generations are observed. */
  async function checkStatuses(step: number): Promise<void> {
    const gateway = {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "front" },
    };
    const judged = ["Gateway", "ListenerSet", "HTTPRoute", "GatewayPolicy"];
    for (const object of [gateway, ...objectsAt(step)].filter(({ kind }) =>
      judged.includes(kind),
    )) {
      let last = "";
      await eventually(
        async () => {
          last = (await statusOf(object)).text;
          return (await isSaidToBeInForce(object)) || null;
        },
        () =>
          `a true status of ${object.kind} ${object.metadata.name} at step ${step}, which says ${last}`,
      );
    }
  }

  /** Asks without a pause for what no policy lets pass; the answers that should not be. */
  function startProbes(): { readonly passed: string[]; isRestarting: boolean } {
    const probes = { passed: [] as string[], isRestarting: false };
    let isOver = false;
    const running = TENANTS.flatMap((tenant) =>
      [["/", "no-key"] as const, [ALWAYS_DENIED, "key"] as const].map(async ([at, key]) => {
        for (let _count = 0; !isOver; _count++) {
          const step = key === "key" ? current : -1;
          const wanted = key === "key" ? [401, 403] : [401];
          const got = await askAs(tenant, front.port, at, step).catch(() => undefined);
          const isAllowed = got === undefined ? probes.isRestarting : wanted.includes(Number(got));
          if (!isAllowed) probes.passed.push(`${tenant} ${at} at step ${current}: ${got}`);
          await pause(20);
        }
      }),
    );
    atEnd(async () => {
      isOver = true;
      await Promise.all(running);
    });
    return probes;
  }

  let current = 0;

  it(`${STEPS} changes of one tenant keep no change of the others from being in force, and no status lies (seed ${SEED})`, async () => {
    await checkStatuses(0);
    const probes = startProbes();
    for (let step = 1; step <= STEPS; step++) {
      for (let taken = 0; taken === 0; ) taken = await changeTenantX();
      await Promise.all(TENANTS.map((tenant) => changeTenant(tenant, step)));
      current = step;
      await checkStatuses(step);
      expect(probes.passed).toEqual([]);
      if (step % 5 === 0) {
        probes.isRestarting = true;
        await agent.stop();
        if (step % 10 === 0) {
          await controller.stop();
          controller = front.startController();
          await controller.seen(/leading/);
        }
        agent = await front.startDataPlane();
        expect([step, await front.readiness()]).toEqual([step, 200]);
        probes.isRestarting = false;
        for (const tenant of TENANTS)
          expect([step, await askAs(tenant, front.port, deniedPath(step), step)]).toEqual([
            step,
            403,
          ]);
        await checkStatuses(step);
      }
      if (isLong) report(step);
    }
  }, 7_200_000);

  function report(steps: number): void {
    const figures = Object.entries(latencies).map(([kind, all]) => {
      const sorted = [...all].sort((a, b) => a - b);
      const at = (share: number) =>
        Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
      return [kind, { median: at(0.5), p99: at(0.99), max: at(1) }] as const;
    });
    mkdirSync(REPORT, { recursive: true });
    const said = { steps, seed: SEED, milliseconds: Object.fromEntries(figures), objects: counts };
    writeFileSync(path.join(REPORT, "report.json"), `${JSON.stringify(said, undefined, 2)}\n`);
  }
});
