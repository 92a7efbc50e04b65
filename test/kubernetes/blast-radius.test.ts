import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { startScripted } from "../harness/scripted.ts";
import { RandomSource } from "../inspect/random-rules.ts";
import { AgentWorld, type WorldGeneration } from "./agent-world.ts";
import {
  askAs,
  askSecurelyAs,
  deniedPath,
  KeyPairs,
  randomTenantX,
  TENANTS,
  tenantObjects,
  tenantSecrets,
} from "./chaos.ts";

/** Changes of tenant X; the long form takes more of them from another seed each time. */
const isLong = process.env.GWC_LONG_TESTS !== undefined;
const STEPS = Number(process.env.GWC_CHAOS_STEPS ?? (isLong ? 1_000 : 24));
const SEED = Number(process.env.GWC_CHAOS_SEED ?? (isLong ? Date.now() % 1_000_000 : 1));

it(`${STEPS} changes of one tenant of a Gateway, most with mistakes, keep no change of the others from being in force (seed ${SEED})`, async () => {
  const random = new RandomSource(SEED);
  const servers = await Promise.all(
    ["first", "second"].map((text) => startScripted((response) => response.end(text))),
  );
  const portOf = (index: number) => Number(new URL(`http://${servers[index]?.host}`).port);
  const [tls = 0, extra = 0] = await freePorts(2);
  const pairs = new KeyPairs();
  const generation = (step: number, http: number): WorldGeneration => {
    const x = randomTenantX(random, { http, tls, extra });
    const ports = { a: portOf(step % 2), b: portOf((step + 1) % 2) };
    const secrets = Object.entries(x.secrets).map(([name, entries]) => [`${name}@x`, entries]);
    return {
      routes: {},
      objects: [...x.objects, ...tenantObjects({ step, ports }, tls)],
      secrets: { ...Object.fromEntries(secrets), ...tenantSecrets(step, pairs) },
    };
  };
  const world = await AgentWorld.start(generation(0, extra));
  let agent = await world.startAgent(1);
  /** Returns what a tenant sees at a step, once its key is accepted. */
  const inForce = async (step: number) => {
    for (const tenant of TENANTS) {
      const ask = (path: string, key = step) => askAs(tenant, world.port, path, key);
      // Mounted files are looked at again within two seconds.
      await eventually(
        async () => ((await ask("/")) === 401 ? null : true),
        `the key of tenant ${tenant} at step ${step}`,
      );
      const served = (step + (tenant === "a" ? 0 : 1)) % 2 === 0 ? "first" : "second";
      expect([step, tenant, await ask("/")]).toEqual([step, tenant, served]);
      expect([step, await ask(deniedPath(step))]).toEqual([step, 403]);
      expect([step, await ask("/", step - 1)]).toEqual([step, 401]);
      const { certificate } = pairs.at(tenant, step);
      await eventually(
        async () =>
          (await askSecurelyAs(tenant, tls, "/", step)).certificate === certificate || null,
        `the certificate of tenant ${tenant} at step ${step}`,
      );
      const secure = await askSecurelyAs(tenant, tls, deniedPath(step), step);
      expect([step, secure]).toEqual([step, { status: 403, certificate }]);
    }
  };
  for (let step = 1; step <= STEPS; step++) {
    const next = generation(step, world.port);
    expect([step, await world.push(next)]).toEqual([step, undefined]);
    await inForce(step);
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
      await inForce(step);
    }
  }
}, 3_600_000);
