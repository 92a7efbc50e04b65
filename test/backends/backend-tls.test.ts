import { copyFileSync } from "node:fs";
import { createServer as createSecure } from "node:https";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { refusals } from "../harness/refusals.ts";
import { tell } from "../harness/tell.ts";
import { exactRoutes, get } from "./exact-routes.ts";
import { secureUpstream } from "./secure-upstream.ts";

describe("backendTLS", () => {
  it("a certificate has to be trusted and of the right name, unless the configuration says otherwise", async () => {
    const { folder, port } = await secureUpstream();
    const host = `localhost:${port}`;
    const gateway = await startGateway({
      folder,
      listeners: exactRoutes({
        "/system": { host: `https://${host}` },
        "/root": { host, policies: { backendTLS: { root: "ca.pem" } } },
        "/other": { host, policies: { backendTLS: { root: "other-ca.pem" } } },
        "/address": { host: `127.0.0.1:${port}`, policies: { backendTLS: { root: "ca.pem" } } },
        "/name": {
          host: `127.0.0.1:${port}`,
          policies: { backendTLS: { root: "ca.pem", hostname: "backend.test" } },
        },
        "/any-name": {
          host: `127.0.0.1:${port}`,
          policies: { backendTLS: { root: "ca.pem", insecureHost: true } },
        },
        "/any-name-other": {
          host: `127.0.0.1:${port}`,
          policies: { backendTLS: { root: "other-ca.pem", insecureHost: true } },
        },
        "/anything": { host: `127.0.0.1:${port}`, policies: { backendTLS: { insecure: true } } },
        "/one-of": {
          host: `127.0.0.1:${port}`,
          policies: {
            backendTLS: { root: "ca.pem", subjectAltNames: ["x.test", "spiffe://test/backend"] },
          },
        },
        "/none-of": {
          host,
          policies: { backendTLS: { root: "ca.pem", subjectAltNames: ["spiffe://test/x"] } },
        },
      }),
    });
    const statuses: Record<string, number> = {};
    for (const path of [
      "system",
      "root",
      "other",
      "address",
      "name",
      "any-name",
      "any-name-other",
      "anything",
      "one-of",
      "none-of",
    ]) {
      statuses[path] = (await get(gateway, `/${path}`)).status;
    }
    expect(statuses).toEqual({
      system: 503,
      root: 200,
      other: 503,
      address: 503,
      name: 200,
      "any-name": 200,
      "any-name-other": 503,
      anything: 200,
      "one-of": 200,
      "none-of": 503,
    });
    expect((await get(gateway, "/name")).seen).toMatchObject({ sni: "backend.test" });
    expect((await get(gateway, "/root")).seen).toMatchObject({ sni: "localhost" });
    expect((await get(gateway, "/anything")).seen).toMatchObject({ sni: false });
  });

  it("an expired certificate is refused", async () => {
    const { folder, server, file } = await secureUpstream();
    server.close();
    const expired = createSecure({ cert: file("expired.pem"), key: file("expired.key") }, tell);
    const host = `localhost:${await listen(expired)}`;
    const backend = { host, policies: { backendTLS: { root: "ca.pem" } } };
    const gateway = await startGateway({ folder, listeners: exactRoutes({ "/": backend }) });
    expect((await get(gateway)).status).toBe(503);
  });

  it("SNI is the destination's for any Host, over one reused connection", async () => {
    const { folder, port, server } = await secureUpstream();
    let connections = 0;
    server.on("secureConnection", () => {
      connections += 1;
    });
    const backendTLS = { root: "ca.pem", hostname: "backend.test" };
    const gateway = await startGateway({
      folder,
      listeners: [
        {
          routes: [
            {
              policies: { hostRewrite: { mode: "None" }, backendTLS },
              backends: [{ host: `localhost:${port}` }],
            },
          ],
        },
      ],
    });
    const first = await hostOf(gateway, "one.example.com");
    const second = await hostOf(gateway, "two.example.com");
    expect(first).toMatchObject({ host: "one.example.com", sni: "backend.test" });
    expect(second).toMatchObject({ host: "two.example.com", sni: "backend.test" });
    expect(connections).toBe(1);
  });

  it("the gateway shows its certificate, and takes a new one from its files without a restart", async () => {
    const { folder, port } = await secureUpstream({ requestCert: true, rejectUnauthorized: true });
    makeCertificate(folder, "shown", { signer: "ca", commonName: "first" });
    makeCertificate(folder, "renewed", { signer: "ca", commonName: "second" });
    const host = `localhost:${port}`;
    const gateway = await startGateway({
      folder,
      listeners: exactRoutes({
        "/": {
          host,
          policies: { backendTLS: { root: "ca.pem", cert: "shown.pem", key: "shown.key" } },
        },
        "/nobody": { host, policies: { backendTLS: { root: "ca.pem" } } },
      }),
    });
    expect((await get(gateway)).seen).toMatchObject({ client: "first" });
    expect((await get(gateway, "/nobody")).status).toBeGreaterThanOrEqual(502);
    copyFileSync(join(folder, "renewed.pem"), join(folder, "shown.pem"));
    copyFileSync(join(folder, "renewed.key"), join(folder, "shown.key"));
    let count = 0;
    await eventually(async () => {
      await pause(100);
      // More requests at once than before need more connections.
      count += 4;
      const seen = await Promise.all(Array.from({ length: count }, () => get(gateway)));
      expect(seen.map(({ status }) => status)).toEqual(Array(count).fill(200));
      return seen.some(({ seen: { client } }) => client === "second") || null;
    }, "a connection with the new certificate");
  });

  it("without configured authorities those of the system count", async () => {
    const { folder, port } = await secureUpstream();
    const backend = { host: `localhost:${port}`, policies: { backendTLS: {} } };
    for (const [env, status] of [
      [{ SSL_CERT_FILE: join(folder, "ca.pem") }, 200],
      [{ SSL_CERT_FILE: join(folder, "other-ca.pem") }, 503],
      [{ NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") }, 200],
    ] as const) {
      const gateway = await startGateway({ env, listeners: exactRoutes({ "/": backend }) });
      expect((await get(gateway)).status, Object.keys(env)[0]).toBe(status);
    }
  });

  it("a file that is missing ends the start with one line that names it", async () => {
    const host = "localhost:1";
    await expect(
      startGateway({
        listeners: exactRoutes({ "/": { host, policies: { backendTLS: { root: "gone.pem" } } } }),
      }),
    ).rejects.toThrow(/error: there is no file .*gone\.pem/);
  });

  it("what can't be meant is refused at build", () => {
    const of = (policies: object) =>
      refusals({ listeners: exactRoutes({ "/": { host: "a:1", policies } }) });
    expect(of({ backendTLS: { cert: "a.pem" } })).toEqual(["broken-rule"]);
    expect(of({ backendTLS: { insecure: true, subjectAltNames: ["a"] } })).toEqual(["broken-rule"]);
    expect(of({ backendTLS: { insecure: true, root: "ca.pem" } })).toEqual(["broken-rule"]);
    expect(of({ backendTLS: { hostname: "*.a" } })).toEqual(["bad-format"]);
    expect(of({ backendTLS: { alpn: ["http/1.1"] }, http: { version: "HTTP2" } })).toEqual([
      "alpn-version",
    ]);
    expect(of({ backendAuth: {} })).toEqual(["wrong-choice"]);
    expect(of({ tcp: { keepalives: { time: "500ms" } } })).toEqual(["out-of-range"]);
    const stdio = { name: "a", stdio: { cmd: "true" }, policies: { backendTLS: {} } };
    const child = { listeners: exactRoutes({ "/": { mcp: { targets: [stdio] } } }) };
    expect(refusals(child, true)).toEqual(["idle-model-field"]);
    const backends = [
      { host: "a:1", policies: { backendAuth: { passthrough: {} } } },
      { host: "b:1" },
    ];
    expect(refusals({ listeners: [{ routes: [{ backends }] }] })).toEqual(["mixed-passthrough"]);
  });
});

async function hostOf(gateway: Gateway, host: string): Promise<object> {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const asked = request(
      { port: gateway.port, host: "127.0.0.1", headers: { host } },
      (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(JSON.parse(text)));
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}
