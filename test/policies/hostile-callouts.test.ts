import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { startFragileWay } from "../harness/fragile-way.ts";
import type { Gateway } from "../harness/gateway.ts";
import { allMisbehaviours, startHostileGrpcServer } from "../harness/hostile-grpc-server.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;

/** The policies that call servers, by the refusal of a request without a verdict. */
const callouts = {
  extAuthz: [403, {}],
  remoteRateLimit: [500, { domain: "a", descriptors: [{ entries: [{ key: "a", value: "'a'" }] }] }],
  extProc: [500, {}],
} as const;

beforeAll(async () => {
  const routes = await Promise.all(
    allMisbehaviours.map(async (misbehaviour, index) => {
      const host = await startHostileGrpcServer(misbehaviour);
      // A silent connection is closed after the shortest time that may be configured.
      const policies = { http: { requestTimeout: "500ms" }, tcp: { connectTimeout: "500ms" } };
      return Object.entries(callouts).map(([policy, [, more]]) => [
        `${policy}-${index}`,
        { policies: { [policy]: { host, policies, ...more } } },
      ]);
    }),
  );
  const echo = await startEcho();
  gateway = await startRoutes(
    { ...Object.fromEntries(routes.flat()), free: { policies: {} } },
    echo,
  );
});

describe.each(Object.keys(callouts) as (keyof typeof callouts)[])(
  "%s refuses requests when its server",
  (policy) => {
    const [status] = callouts[policy];

    it.concurrent.each(allMisbehaviours.map((name, index) => [name, index] as const))(
      "%s",
      async (_, index) => {
        // Several at once: each has its own end, on one connection.
        const path = `${gateway.url}/${policy}-${index}`;
        const ask = () => send(path, "POST", {}, "hello");
        const responses = await Promise.all([ask(), ask(), ask()]);
        expect(responses.map((each) => each.status)).toEqual([status, status, status]);
        expect((await send(`${gateway.url}/free`, "GET")).status).toBe(200);
      },
    );
  },
);

describe("servers that come and go", () => {
  const harness = join(import.meta.dirname, "../harness");
  const names = pathToFileURL(join(harness, "fake-names.mjs"));
  const folder = temporaryFolder();
  makeCertificate(folder, "auth", { names: "DNS:auth.test" });

  it.each(Object.keys(callouts) as (keyof typeof callouts)[])(
    "a name that disappears causes refusals until it is back: %s",
    async (policy) => {
      const [refusal, more] = callouts[policy];
      const services = await startEnvoyServices();
      const policies = { ...patient, tcp: { connectTimeout: "5s" } };
      const server = { host: `auth.test:${services.port}`, policies, ...more };
      const own = await startRoutes(
        { a: { policies: { [policy]: server } } },
        await startEcho(),
        {},
        {
          NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${names}`,
          GWC_TEST_NAMES: JSON.stringify({ "auth.test": ["127.0.0.1", null, null, "127.0.0.1"] }),
        },
      );
      const status = async () => (await send(`${own.url}/a`, "GET")).status;
      expect(await status()).toBe(200);
      await services.stop();
      // The connection ends, so the next one needs the name.
      await expect.poll(status).toBe(refusal);
      await startEnvoyServices(services.port);
      await expect.poll(status).toBe(200);
      await own.seen(/ENOTFOUND/);
    },
  );

  it("an address that drops packets costs a request only its deadline", async () => {
    const away = new TestProcess(process.execPath, [join(harness, "never-accepts.ts")]);
    const [, port] = await away.seen(/listening on 127\.0\.0\.1:(\d+)/);
    const policies = { http: { requestTimeout: "500ms" }, tcp: { connectTimeout: "1h" } };
    const routes = Object.entries(callouts).map(([policy, [, more]]) => [
      policy,
      { policies: { [policy]: { host: `127.0.0.1:${port}`, policies, ...more } } },
    ]);
    const own = await startRoutes(Object.fromEntries(routes), await startEcho());
    for (const [policy, [status]] of Object.entries(callouts))
      expect((await send(`${own.url}/${policy}`, "GET")).status).toBe(status);
  });

  it.each(Object.keys(callouts) as (keyof typeof callouts)[])(
    "%s detects that its connection is dead",
    async (policy) => {
      const [status, more] = callouts[policy];
      const services = await startEnvoyServices();
      const between = await startFragileWay(services.port);
      const policies = { http: { requestTimeout: "200ms" } };
      const server = { host: `127.0.0.1:${between.port}`, policies, ...more };
      const own = await startRoutes({ a: { policies: { [policy]: server } } }, await startEcho());
      const ask = async () => (await send(`${own.url}/a`, "GET")).status;
      // Each opens the server's first connection at its own time.
      await expect.poll(ask).toBe(200);
      between.swallow();
      expect(await ask()).toBe(status);
      await expect.poll(ask).toBe(200);
    },
  );

  it("TLS on only one side is no verdict", async () => {
    const tls = { key: join(folder, "auth.key"), cert: join(folder, "auth.pem") };
    const [plain, secure] = await Promise.all([startEnvoyServices(), startEnvoyServices(0, tls)]);
    const backendTLS = { root: tls.cert, hostname: "auth.test" };
    const other = { root: tls.cert, hostname: "other.test" };
    const to = ({ url }: EnvoyServices, policies?: object) => ({
      policies: { extAuthz: { host: new URL(url).host, policies: { ...patient, ...policies } } },
    });
    const own = await startRoutes(
      {
        right: to(secure, { backendTLS }),
        toPlain: to(plain, { backendTLS }),
        toSecure: to(secure),
        otherName: to(secure, { backendTLS: other }),
      },
      await startEcho(),
    );
    const status = async (path: string) => (await send(`${own.url}/${path}`, "GET")).status;
    expect(await status("right")).toBe(200);
    expect(await status("toPlain")).toBe(403);
    expect(await status("toSecure")).toBe(403);
    expect(await status("otherName")).toBe(403);
  });
});
