import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { RandomSource } from "../inspect/random-rules.ts";
import { AgentWorld, type WorldGeneration } from "./agent-world.ts";
import { others, type TenantObject } from "./tenants.ts";

/** Changes of tenant X; the long form takes more of them from another seed each time. */
const STEPS = process.env.GWC_LONG_TESTS === undefined ? 24 : 1_000;
const SEED = process.env.GWC_LONG_TESTS === undefined ? 1 : Date.now() % 1_000_000;

/** What somebody writes where something else is wanted. */
const ODD_VALUES: readonly unknown[] = [
  ...["", "(", "/(?!admin).*", "/priv[", "a".repeat(5_000), "x\u0000y", "${jwt.sub}", "\u202e"],
  ...[null, -1, 0, 1e21, 65_536, true, [], {}, [null], ["a", "a"], { kind: "x" }],
];

/** Contents of a Secret that its readers can't use. */
const ODD_ENTRIES: readonly string[] = [
  ...["", "plain text", "u:secret", "{", '{"metadata":{}}', '{"keyHash":"md5:1"}', "\u0007"],
  ...[
    "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----",
  ],
];

/** Replaces or removes one part of a value, somewhere. */
function mutated(value: unknown, random: RandomSource): unknown {
  if (typeof value !== "object" || value === null || random.below(4) === 0)
    return random.below(8) === 0 ? undefined : random.pick(ODD_VALUES);
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(ODD_VALUES);
  const [key, part] = random.pick(entries);
  const changed = { ...value, [key]: mutated(part, random) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

/** The objects of tenant X on the shared Gateway, some with mistakes. */
function randomObjects(random: RandomSource, port: number): readonly TenantObject[] {
  return others
    .filter(({ kind, metadata }) => kind !== "Secret" && metadata.namespace !== "other")
    .filter(() => random.below(3) > 0)
    .map((each): TenantObject => {
      const text = JSON.stringify(each)
        .replaceAll('"name":"g"', '"name":"front","namespace":"default"')
        .replaceAll('"port":8081', `"port":${port}`);
      const object: TenantObject = JSON.parse(text);
      const { spec } = object;
      const metadata = { ...object.metadata, namespace: "x" };
      const broken = random.below(2) === 0 ? mutated(spec, random) : spec;
      return { ...object, metadata, spec: Object(broken) };
    });
}

const HOST = { a: "a.test", b: "b.test" };

/** The objects of tenants A and B: a denied path, a key that may pass, a backend. */
function tenantObjects(denied: string, ports: Readonly<Record<"a" | "b", number>>): TenantObject[] {
  const own = "gwc.dev/v1alpha1";
  return (["a", "b"] as const).flatMap((name): TenantObject[] => {
    const metadata = { name: `tenant-${name}`, namespace: "default" };
    const targetRefs = [
      { group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: metadata.name },
    ];
    const backendRefs = [{ group: "gwc.dev", kind: "GatewayBackend", name: metadata.name }];
    const policy = { matchExpressions: [`request.path == "${denied}"`] };
    return [
      {
        ...{ apiVersion: own, kind: "GatewayBackend", metadata },
        spec: { static: { host: "127.0.0.1", port: ports[name] } },
      },
      {
        ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata },
        spec: {
          parentRefs: [{ name: "front", sectionName: "http" }],
          hostnames: [HOST[name]],
          rules: [{ backendRefs }],
        },
      },
      {
        ...{ apiVersion: own, kind: "GatewayPolicy", metadata },
        spec: {
          targetRefs,
          traffic: {
            authorization: { action: "Deny", policy },
            apiKeyAuthentication: { secretRef: { name: `keys-${name}` } },
          },
        },
      },
    ];
  });
}

it(`${STEPS} changes of one tenant of a Gateway, most with mistakes, keep no change of the others from being in force (seed ${SEED})`, async () => {
  const random = new RandomSource(SEED);
  const servers = await Promise.all(
    ["first", "second"].map((text) => startScripted((response) => response.end(text))),
  );
  const portOf = (index: number) => Number(new URL(`http://${servers[index]?.host}`).port);
  const extra = await freePort();
  const generation = (step: number): WorldGeneration => ({
    routes: {},
    objects: [
      ...randomObjects(random, extra),
      ...tenantObjects(`/denied-${step}`, { a: portOf(step % 2), b: portOf((step + 1) % 2) }),
    ],
    secrets: {
      "x@x": Object.fromEntries(
        ["tls.crt", "tls.key", "Authorization", ".htaccess"].map((key) => [
          key,
          random.pick(ODD_ENTRIES),
        ]),
      ),
      "keys-a": { client: `key-a-${step}` },
      "keys-b": {
        client: JSON.stringify({ keyHash: `sha256:${hash("sha256", `key-b-${step}`)}` }),
      },
    },
  });
  const world = await AgentWorld.start(generation(0));
  let agent = await world.startAgent(1);
  const ask = async (tenant: "a" | "b", path: string, step: number) => {
    const headers = { host: HOST[tenant], authorization: `Bearer key-${tenant}-${step}` };
    const { status, body } = await send(`http://127.0.0.1:${world.port}${path}`, "GET", headers);
    return status === 200 ? body : status;
  };
  for (let step = 1; step <= STEPS; step++) {
    expect([step, await world.push(generation(step))]).toEqual([step, undefined]);
    for (const tenant of ["a", "b"] as const) {
      // Mounted files are looked at again within two seconds.
      await eventually(
        async () => ((await ask(tenant, "/", step)) === 401 ? null : true),
        `the key of tenant ${tenant} at step ${step}`,
      );
      const served = (step + (tenant === "a" ? 0 : 1)) % 2 === 0 ? "first" : "second";
      expect([step, tenant, await ask(tenant, "/", step)]).toEqual([step, tenant, served]);
      expect([step, await ask(tenant, `/denied-${step}`, step)]).toEqual([step, 403]);
      expect([step, await ask(tenant, "/", step - 1)]).toEqual([step, 401]);
    }
    const wrong = world.statuses.filter(
      ({ kind, key, status }) =>
        (kind === "Gateway" || key.startsWith("default/tenant-")) &&
        /"type":"(?!Conflicted)\w+","status":"False"/.test(JSON.stringify(status)),
    );
    expect([step, wrong]).toEqual([step, []]);
    if (step % 8 === 0) {
      // A data plane that starts now becomes ready with what can be served.
      await agent.stop();
      agent = await world.startAgent(1);
      expect([step, await world.readiness()]).toEqual([step, 200]);
      expect([step, await ask("a", `/denied-${step}`, step)]).toEqual([step, 403]);
    }
  }
}, 1_800_000);
