import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { AcmeRecords } from "../../runtime/acme/acme-records.ts";
import { openEmbeddedStore } from "../../runtime/store/embedded-store.ts";
import { configOf, issued, rewrite, SHOP, shown, startWithAcme } from "../harness/acme-gateway.ts";
import { AcmeServer } from "../harness/acme-server.ts";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { RedisServer } from "../harness/redis.ts";
import { root } from "../harness/root.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const both = { names: [SHOP, "www.example.com"] };

function auditLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.includes('"event":"certificate"'))
    .map((line) => JSON.parse(line));
}

it("a name that is added in a reload does not interrupt the others", async () => {
  const acme = await AcmeServer.start();
  const folder = temporaryFolder();
  const file = path.join(folder, "gateway.yaml");
  const write = (use: object) => writeFileSync(file, JSON.stringify(configOf({ acme, use })));
  write({ names: [SHOP] });
  const any = "127.0.0.1:0";
  const gateway = new GwcProcess(["run", file], {
    cwd: folder,
    env: { GWC_STATE_DIR: folder, ADMIN_ADDR: any, STATS_ADDR: any, READINESS_ADDR: any },
  });
  await gateway.seen(/the certificate of \S+ is valid until/);
  const old = await shown(acme.tlsPort, SHOP);
  await acme.stop();
  write(both);
  await gateway.seen(
    /a certificate for shop\.example\.com, www\.example\.com is ordered; an old one stays in use until then/,
  );
  await gateway.seen(/no new certificate for shop.*the old one stays in use, valid until/);
  expect((await shown(acme.tlsPort, SHOP)).serialNumber).toBe(old.serialNumber);
  await acme.start();
  const issuer = await acme.issuer();
  for (const name of both.names)
    await eventually(() => shown(acme.tlsPort, name, issuer).catch(() => null), name);
});

it("a name that is added before a restart does not interrupt the others", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const first = await startWithAcme({ acme, state });
  await issued(first);
  const old = await shown(acme.tlsPort, SHOP);
  await first.stop();
  await acme.stop();
  const second = await startWithAcme({ acme, state, use: both });
  await second.seen(/an old one stays in use until then/);
  expect((await shown(acme.tlsPort, SHOP)).serialNumber).toBe(old.serialNumber);
  await second.stop();
  // A certificate of other names only is not used.
  const third = await startWithAcme({ acme, state, use: { names: ["other.example.com"] } });
  await third.seen(/handshakes that need it are refused/);
  await expect(shown(acme.tlsPort, "other.example.com")).rejects.toThrow();
});

it("an order whose beginning was not confirmed can begin again, at its replica alone", async () => {
  const store = openEmbeddedStore(path.join(temporaryFolder(), "acme.store.sqlite"));
  atEnd(() => store.close());
  const records = new AcmeRecords(store, [Buffer.alloc(32)]);
  const begin = (lease: string) => records.begin("shop", lease, 600_000);
  expect([await begin("own"), await begin("other"), await begin("own")]).toEqual([
    true,
    false,
    true,
  ]);
  await records.finish("shop", "own", Date.now() + 600_000);
  expect(await begin("own")).toBe(false);
});

it("orders are in the audit log", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const file = path.join(state, "audit.log");
  const config = { logging: { audit: { file } } };
  const find = (event: string) =>
    eventually(
      () => auditLines(file).find((line) => line["certificate.event"] === event) ?? null,
      event,
    );
  const common = { scope: "audit", event: "certificate", "certificate.names": SHOP };
  const first = await startWithAcme({ acme, state, config });
  const { "certificate.expires": expires, ...rest } = await find("issued");
  expect(rest).toMatchObject(common);
  expect(Date.parse(String(expires))).toBeGreaterThan(Date.now());
  await first.stop();
  await acme.stop();
  await rewrite(state, acme, (stored) => ({ ...stored, renewal: 0 }));
  await startWithAcme({ acme, state, config });
  const failed = await find("failed");
  expect(failed).toMatchObject({ ...common, "certificate.expires": expires });
  expect(failed.error).toMatch(/the ACME server at \S+ can't be used/);
  await acme.start();
  expect(await find("renewed")).toMatchObject(common);
  expect(readFileSync(file, "utf8")).not.toContain("PRIVATE");
});

it.each([1, 2])(
  "a store that replicas share requires a key of the operator (%s threads)",
  async (workerThreads) => {
    const [acme, redis] = await Promise.all([AcmeServer.prepare(), RedisServer.start()]);
    const started = startWithAcme({
      acme,
      config: { store: { redis: { url: "${REDIS_URL}" } }, workerThreads },
      env: { REDIS_URL: redis.url },
    });
    await expect(started).rejects.toThrow(/set SESSION_KEY to the same 64 hexadecimal digits/);
  },
);

it("the example orders its certificate, and redirects other requests to it", async () => {
  const acme = await AcmeServer.start();
  const text = readFileSync(path.join(root, "examples/acme/gateway.yaml"), "utf8");
  const config = text
    .replace(/directory: .*/, `directory: ${acme.directory}\n    root: ${acme.root}`)
    .replace("port: 80 ", `port: ${acme.httpPort} `)
    .replace("port: 443", `port: ${acme.tlsPort}`);
  const gateway = await startGateway({ config, env: { GWC_STATE_DIR: temporaryFolder() } });
  await gateway.seen(/"event":"certificate","certificate.event":"issued"/);
  await shown(acme.tlsPort, SHOP, await acme.issuer());
  const plain = await send(`http://127.0.0.1:${acme.httpPort}/cart`, "GET");
  expect(plain.status).toBe(301);
});
