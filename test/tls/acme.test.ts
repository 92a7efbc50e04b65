import { X509Certificate } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import path from "node:path";
import * as acmeClient from "acme-client";
import { Redis } from "iovalkey";
import { expect, it } from "vitest";
import { digest } from "../../runtime/acme/acme-records.ts";
import {
  configOf,
  issued,
  rewrite,
  SHOP,
  shown,
  startWithAcme,
  storeFiles,
  withRecords,
} from "../harness/acme-gateway.ts";
import { AcmeServer } from "../harness/acme-server.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { RedisServer } from "../harness/redis.ts";
import { refusingAcmeServer } from "../harness/refusing-acme-server.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

it("a certificate for several names is ordered over HTTP-01, and clients verify it", async () => {
  const acme = await AcmeServer.start();
  const names = [SHOP, "www.example.com"];
  const gateway = await startWithAcme({ acme, use: { names } });
  await gateway.seen(/the certificate of shop\.example\.com, www\.example\.com is valid until/);
  const issuer = await acme.issuer();
  for (const name of names)
    expect((await shown(acme.tlsPort, name, issuer)).subjectaltname).toBe(
      "DNS:shop.example.com, DNS:www.example.com",
    );
  expect(acme.issued).toBe(1);
});

it("a gateway without a plain port orders over TLS-ALPN-01, also where clients need a certificate", async () => {
  const acme = await AcmeServer.start();
  const gateway = await startWithAcme({ acme, httpPort: undefined, tls: { root: acme.root } });
  await issued(gateway);
  // TLS 1.3 reports a missing certificate of the client only after its handshake.
  const refused = shown(acme.tlsPort, SHOP, await acme.issuer(), "TLSv1.2");
  await expect(refused).rejects.toThrow(/handshake failure/);
});

it("handshakes are refused until there is a certificate", async () => {
  const acme = await AcmeServer.prepare();
  const gateway = await startWithAcme({ acme });
  await expect(shown(acme.tlsPort, SHOP)).rejects.toThrow();
  await gateway.seen(
    /no certificate for shop\.example\.com: the ACME server at \S+ can't be used: connect ECONNREFUSED/,
  );
  const readiness = await gateway.readinessPort();
  const ready = await send(`http://127.0.0.1:${readiness}/healthz/ready`, "GET");
  expect(ready.status).toBe(200);
  await acme.start();
  await issued(gateway);
  await shown(acme.tlsPort, SHOP, await acme.issuer());
});

it("account and certificate are kept for a restart, in files that only the owner reads", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const first = await startWithAcme({ acme, state });
  await issued(first);
  const { serialNumber } = await shown(acme.tlsPort, SHOP);
  await first.stop();
  expect(storeFiles(state).length).toBeGreaterThan(0);
  for (const name of storeFiles(state))
    expect(statSync(path.join(state, name)).mode & 0o777, name).toBe(0o600);
  await acme.stop();
  const second = await startWithAcme({ acme, state });
  await issued(second);
  expect((await shown(acme.tlsPort, SHOP)).serialNumber).toBe(serialNumber);
});

it("a certificate that was revoked is renewed when the server is asked next", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const first = await startWithAcme({ acme, state });
  await issued(first);
  await first.stop();
  const old = await rewrite(state, acme, (stored) => ({ ...stored, inquiry: 0 }));
  const account = await withRecords(state, (records) =>
    records.account(digest("account", acme.directory, "")),
  );
  await revoke(acme, { key: account?.key ?? "", url: account?.url ?? "" }, old.cert);
  const second = await startWithAcme({ acme, state });
  await second.seen(/is valid until[\s\S]*is valid until/);
  const { serialNumber } = await shown(acme.tlsPort, SHOP);
  expect(serialNumber).not.toBe(new X509Certificate(old.cert).serialNumber);
  expect(acme.issued).toBe(2);
});

it("a certificate is renewed while the old one is in use", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const first = await startWithAcme({ acme, state });
  await issued(first);
  await first.stop();
  await acme.stop();
  const { cert } = await rewrite(state, acme, (stored) => ({ ...stored, renewal: 0 }));
  const old = new X509Certificate(cert).serialNumber;
  const second = await startWithAcme({ acme, state });
  await second.seen(
    /no new certificate for shop\.example\.com: .* the old one stays in use, valid until/,
  );
  expect((await shown(acme.tlsPort, SHOP)).serialNumber).toBe(old);
  await acme.start();
  const renewed = async () => (await shown(acme.tlsPort, SHOP)).serialNumber !== old || null;
  await eventually(renewed, "the new certificate");
});

it("a server that has forgotten the account gets it again", async () => {
  const acme = await AcmeServer.start();
  const state = temporaryFolder();
  const first = await startWithAcme({ acme, state });
  await issued(first);
  await first.stop();
  await acme.stop();
  await acme.start();
  await rewrite(state, acme, (stored) => ({ ...stored, renewal: 0 }));
  const second = await startWithAcme({ acme, state });
  await second.seen(/is valid until[\s\S]*is valid until/);
  await shown(acme.tlsPort, SHOP, await acme.issuer());
});

it("an external account is used", async () => {
  const key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
  const acme = await AcmeServer.start({ externalAccounts: { "kid-1": key } });
  const folder = temporaryFolder();
  const keyFile = path.join(folder, "eab.key");
  writeFileSync(keyFile, `${key}\n`);
  const gateway = await startWithAcme({
    acme,
    account: { externalAccount: { keyId: "kid-1", keyFile } },
  });
  await issued(gateway);
});

it("a replica answers for the orders of another one", async () => {
  const [acme, redis, ports] = await Promise.all([
    AcmeServer.start(),
    RedisServer.start(),
    freePorts(3),
  ]);
  const [plain = 0, first = 0, second = 0] = ports;
  const shared = {
    acme,
    config: { store: { redis: { url: "${REDIS_URL}" } } },
    env: { REDIS_URL: redis.url, SESSION_KEY: "ab".repeat(32) },
  };
  const asked = await startWithAcme({
    ...shared,
    use: { names: ["one.example.com"] },
    securePort: first,
  });
  await issued(asked);
  // The server never asks this one: its plain port is another.
  const other = await startWithAcme({ ...shared, httpPort: plain, securePort: second });
  await issued(other);
  await shown(second, SHOP, await acme.issuer());
});

it("replicas order one certificate together, and a store elsewhere has no readable key", async () => {
  const [acme, redis, ports] = await Promise.all([
    AcmeServer.start(),
    RedisServer.start(),
    freePorts(4),
  ]);
  const [plain = 0, another = 0, ...secure] = ports;
  const settings = {
    acme,
    config: { store: { redis: { url: "${REDIS_URL}" } } },
    env: { REDIS_URL: redis.url, SESSION_KEY: "ab".repeat(32) },
  };
  // Answers of the others would fail before this one listens.
  const answering = await startWithAcme(settings);
  const others = await Promise.all([
    startWithAcme({ ...settings, httpPort: plain, securePort: secure[0] ?? 0 }),
    startWithAcme({ ...settings, httpPort: another, securePort: secure[1] ?? 0 }),
  ]);
  const serials = await Promise.all(
    [acme.tlsPort, ...secure].map(async (port) => {
      const find = () => shown(port, SHOP).catch(() => null);
      const outputs = () => [answering, ...others].map(({ output }) => output).join("\n");
      return (await eventually(find, () => `a certificate:\n${outputs()}`)).serialNumber;
    }),
  );
  expect(new Set(serials).size).toBe(1);
  expect(acme.issued).toBe(1);
  const client = new Redis(redis.url);
  const keys = await client.keys("*acme*");
  const values = await Promise.all(keys.map((key) => client.get(key).catch(() => "")));
  expect(keys.length).toBeGreaterThan(1);
  expect(values.join()).not.toContain("PRIVATE KEY");
  client.disconnect();
});

it("threads share a certificate", async () => {
  const acme = await AcmeServer.start();
  const gateway = await startWithAcme({ acme, config: { workerThreads: 2 } });
  await issued(gateway);
  const issuer = await acme.issuer();
  // Each connection is one of either thread.
  const look = () => {
    const all = Array.from({ length: 20 }, () => shown(acme.tlsPort, SHOP, issuer));
    return Promise.all(all).catch(() => null);
  };
  const found = await eventually(look, "certificates of both threads");
  expect(new Set(found.map(({ serialNumber }) => serialNumber)).size).toBe(1);
  expect(acme.issued).toBe(1);
});

it("a server that limits orders is not asked before it allows, also after a restart", async () => {
  const state = temporaryFolder();
  const acme = await refusingAcmeServer(state, {
    status: 429,
    headers: { "retry-after": "7200" },
    problem: { type: "urn:ietf:params:acme:error:rateLimited", detail: "too many certificates" },
  });
  const begun = Date.now();
  const gateway = await startWithAcme({ acme, state });
  const [, next = ""] = await gateway.seen(
    /the ACME server refused: too many certificates \(rateLimited\); .*next attempt at (\S+)/,
  );
  expect(Date.parse(next) - begun).toBeGreaterThan(7_100_000);
  const { orders } = acme;
  await gateway.stop();
  const again = await startWithAcme({ acme, state });
  await again.seen(/there is no certificate for shop\.example\.com yet/);
  await send(`http://127.0.0.1:${acme.httpPort}/`, "GET");
  expect(acme.orders).toBe(orders);
});

it("a clock that differs from the server's is reported", async () => {
  const state = temporaryFolder();
  const acme = await refusingAcmeServer(state, {
    status: 403,
    headers: {
      // At the time of each response.
      get date() {
        return new Date(Date.now() - 3_600_000).toUTCString();
      },
    },
    problem: { type: "urn:ietf:params:acme:error:unauthorized", detail: "no" },
  });
  const gateway = await startWithAcme({ acme, state });
  await gateway.seen(/the clock of this machine is 60 minutes ahead of the ACME server's/);
});

it("wrong answers fail with the reason of the server", async () => {
  // Requests that were repeated because of their nonces are not the reason.
  const acme = await AcmeServer.start({ rejectedNonces: 20 });
  const [plain = 0] = await freePorts(1);
  const gateway = await startWithAcme({ acme, httpPort: plain });
  await gateway.seen(
    /no certificate for shop\.example\.com: the ACME server refused: http-01 of shop\.example\.com failed: .*connection refused; handshakes that need it are refused; next attempt at/,
  );
});

it("tokens that the gateway did not order are routed", async () => {
  const acme = await AcmeServer.start();
  const gateway = await startGateway({
    config: {
      ...configOf({ acme }),
      routes: [
        {
          name: "own",
          gateways: ["web", "default"],
          policies: { directResponse: { status: 418, body: "routed" } },
        },
      ],
    },
    env: { GWC_STATE_DIR: temporaryFolder() },
  });
  await issued(gateway);
  for (const token of ["abcdefghijklmnopqrstuvwxyz", "short", "", "a".repeat(300)]) {
    const url = `http://127.0.0.1:${acme.httpPort}/.well-known/acme-challenge/${token}`;
    expect(await send(url, "GET")).toMatchObject({ status: 418, body: "routed" });
  }
});

/** Revokes a certificate with the account that ordered it. */
async function revoke(
  acme: AcmeServer,
  account: { readonly key: string; readonly url: string },
  cert: string,
): Promise<void> {
  acmeClient.axios.defaults.httpsAgent = new Agent({ rejectUnauthorized: false });
  const client = new acmeClient.Client({
    directoryUrl: acme.directory,
    accountKey: account.key,
    accountUrl: account.url,
  });
  await client.revokeCertificate(cert);
}
