import { readFileSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { Workspace } from "../harness/workspace.ts";

interface Check {
  readonly group: string;
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly hint?: string;
  readonly place?: string;
  readonly milliseconds?: number;
}

const SERVICES = { statsAddr: "127.0.0.1:0", readinessAddr: "127.0.0.1:0" };

/** Runs `gwc doctor --format json` on a configuration in a folder with these files. */
async function examined(
  config: object,
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
) {
  const text = stringify({ config: SERVICES, ...config });
  const workspace = new Workspace({ ...files, "gateway.yaml": text });
  const { code, stdout } = await gwc(["doctor", "--format", "json", ...options], {
    cwd: workspace.folder,
    env,
  });
  const report = JSON.parse(stdout) as { checks: Check[]; counts: Record<string, number> };
  const check = (name: string) => report.checks.find((each) => each.name === name);
  return { code, check, ...report };
}

async function to(host: string, backendPolicies: object = {}): Promise<object> {
  const backends = [{ host, policies: backendPolicies }];
  return { binds: [{ port: await freePort(), listeners: [{ routes: [{ backends }] }] }] };
}

/** Starts a server that answers as if it were this long ago. */
const agedBy =
  (seconds: number): RequestListener =>
  (_, response) => {
    response.sendDate = false;
    response.setHeader("date", new Date(Date.now() - seconds * 1000).toUTCString());
    response.end();
  };

describe("gwc doctor", () => {
  it("reports Node.js, memory and open files without a configuration, in 80 columns", async () => {
    const { code, stdout } = await gwc(["doctor"], { cwd: new Workspace({}).folder });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^machine\n {2}ok +Node\.js: gwc \S+ runs on Node\.js 24/);
    expect(stdout).toContain("there is no gateway.yaml in this folder");
    const prose = stdout.split("\n").filter((line) => !line.includes("/"));
    expect(Math.max(...prose.map(({ length }) => length))).toBeLessThan(81);
  });

  it("finds a server, and a clock that agrees", async () => {
    const port = await listen(createHttp(agedBy(0)));
    const { code, check } = await examined(await to(`127.0.0.1:${port}`));
    expect(check(`http://127.0.0.1:${port}`)).toMatchObject({ status: "ok", detail: "connected" });
    expect(check(`http://127.0.0.1:${port}`)?.milliseconds).toBeTypeOf("number");
    expect(check("clock")).toMatchObject({ status: "ok", detail: "agrees with a server" });
    expect(code).toBe(0);
  });

  it("reports a clock that differs from those of servers", async () => {
    const said = async (seconds: number) => {
      const port = await listen(createHttp(agedBy(seconds)));
      const { code, check } = await examined(await to(`127.0.0.1:${port}`));
      expect(check("clock")?.status).toBe("failed");
      expect(code).toBe(1);
      return check("clock")?.detail;
    };
    expect(await said(600)).toMatch(/^(?:599|60[01]) s ahead of the servers$/);
    expect(await said(100 * 86_400)).toBe("100 days ahead of the servers");
  });

  it("reports a server that does not listen, with its place", async () => {
    const port = await freePort();
    const { code, check } = await examined(await to(`127.0.0.1:${port}`));
    expect(check(`http://127.0.0.1:${port}`)).toMatchObject({
      status: "failed",
      detail: `nothing listens on 127.0.0.1:${port}`,
      place: expect.stringMatching(/^gateway\.yaml:\d+:\d+$/),
    });
    expect(code).toBe(1);
  });

  it("verifies certificates of servers as the gateway does", async () => {
    const workspace = new Workspace({});
    makeCertificate(workspace.folder, "server", { names: "DNS:localhost" });
    const read = (name: string) => readFileSync(path.join(workspace.folder, name), "utf8");
    const options = { cert: read("server.pem"), key: read("server.key") };
    const url = `https://localhost:${await listen(createHttps(options, agedBy(0)), "localhost")}`;
    const untrusted = await examined(await to(url));
    expect(untrusted.check(url)).toMatchObject({
      status: "failed",
      detail: "its certificate is signed by an authority that is not trusted",
    });
    const trusting = await to(url, { backendTLS: { root: "ca.pem" } });
    const trusted = await examined(trusting, { "ca.pem": read("server.pem") });
    expect(trusted.check(url)).toMatchObject({
      status: "ok",
      detail: "connected, certificate accepted",
    });
    expect(trusted.check("file ca.pem")).toMatchObject({ status: "ok" });
  });

  it("reports variables, files and commands that are missing, and prints no value", async () => {
    const target = { name: "a", stdio: { cmd: "gwc-has-no-such-command" } };
    const route = (key: string, backends: object[]) => {
      return { name: key, policies: { apiKey: { keys: [{ key: `\${${key}}` }] } }, backends };
    };
    const config = {
      binds: [
        {
          port: await freePort(),
          listeners: [
            {
              protocol: "HTTPS",
              tls: { cert: "tls/cert.pem", key: "tls/key.pem" },
              routes: [
                { ...route("MISSING_KEY", [{ mcp: { targets: [target] } }]) },
                { ...route("SET_KEY", [{ host: "127.0.0.1:1" }]), hostnames: ["b.example.com"] },
              ],
            },
          ],
        },
      ],
    };
    const value = "value-of-a-secret-variable";
    const found = await examined(config, {}, { SET_KEY: value }, ["--offline"]);
    expect(found.check("variable MISSING_KEY")).toMatchObject({ status: "failed" });
    expect(found.check("variable SET_KEY")).toMatchObject({ status: "ok", detail: "set" });
    expect(found.check("file tls/cert.pem")?.detail).toContain("there is no such file");
    expect(found.check("command gwc-has-no-such-command")).toMatchObject({ status: "failed" });
    expect(JSON.stringify(found.checks)).not.toContain(value);
    expect(found.checks.some(({ group }) => group === "servers")).toBe(false);
    expect(found.counts).toMatchObject({ failed: 4 });
  });

  it("reports a certificate without the name of its listener, and the days of a good one", async () => {
    const workspace = new Workspace({});
    makeCertificate(workspace.folder, "edge", { names: "DNS:a.example.com", days: "90" });
    const read = (name: string) => readFileSync(path.join(workspace.folder, name), "utf8");
    const files = { "edge.pem": read("edge.pem"), "edge.key": read("edge.key") };
    const served = async (hostname: string) => {
      const tls = { cert: "edge.pem", key: "edge.key" };
      const routes = [{ policies: { directResponse: { status: 200 } } }];
      const listeners = [{ hostname, protocol: "HTTPS", tls, routes }];
      return examined({ binds: [{ port: await freePort(), listeners }] }, files);
    };
    expect((await served("a.example.com")).check("edge.pem")).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^valid until \d{4}-\d\d-\d\d \((?:89|90) days\)$/),
    });
    expect((await served("b.example.com")).check("edge.pem")).toMatchObject({
      status: "failed",
      detail: "does not name b.example.com, which its listener serves",
    });
  });

  it("reports a port that another program uses", async () => {
    const port = await listen(createServer());
    const listeners = [{ routes: [{ policies: { directResponse: { status: 200 } } }] }];
    const { check } = await examined({ binds: [{ port, address: "127.0.0.1", listeners }] });
    expect(check(`port ${port}`)).toMatchObject({
      status: "failed",
      detail: "in use by another program",
    });
  });

  it("accepts ports that its own running gateway uses", async () => {
    const listeners = [{ routes: [{ policies: { directResponse: { status: 200 } } }] }];
    const gateway = await startGateway({ listeners });
    const ready = `127.0.0.1:${await gateway.readinessPort()}`;
    const config = { binds: [{ port: gateway.port, listeners }] };
    const { code, check } = await examined(config, {}, { READINESS_ADDR: ready });
    expect(check(`port ${gateway.port}`)).toMatchObject({ status: "note" });
    expect(code).toBe(0);
  });

  it("repeats the mistakes of gwc check", async () => {
    const { code, check } = await examined({ binds: [{ port: 70_000, listeners: [] }] });
    expect(check("out-of-range")).toMatchObject({ group: "configuration", status: "failed" });
    expect(code).toBe(1);
  });
});
