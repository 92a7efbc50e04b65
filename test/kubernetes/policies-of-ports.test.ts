import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests, complaints } from "./manifests.ts";

const [ANYONE, NOT_ON_SECOND, NOWHERE] = ["127.0.4.1", "127.0.4.2", "127.0.4.3"];
let gateway: Gateway;
let ports: readonly number[] = [];

const gatewayRef = "group: gateway.networking.k8s.io, kind: Gateway, name: gw";

function policy(name: string, target: string, frontend: string): string {
  return `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: ${name}}
spec: {targetRefs: [{${gatewayRef}${target}}], ${frontend}}
---`;
}

const denied = (address: string) =>
  `networkAuthorization: {action: Deny, policy: {matchExpressions: ['source.address == "${address}"']}}`;

/** A Gateway with HTTP on the first two ports and TCP on the third one. */
function manifests(all: readonly number[], host: string, policies: readonly string[]): string {
  const [first, second, third] = all;
  const [address, port] = host.split(":");
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  listeners:
    - {name: first, port: ${first}, protocol: HTTP}
    - {name: second, port: ${second}, protocol: HTTP}
    - {name: third, port: ${third}, protocol: TCP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]
---
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TCPRoute
metadata: {name: t}
spec:
  parentRefs: [{name: gw, sectionName: third}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: b}
spec: {static: {host: ${address}, port: ${port}}}
---${policies.join("")}`;
}

beforeAll(async () => {
  const upstream = await startScripted((response) => {
    response.end("passed on");
  });
  ports = await Promise.all(Array.from({ length: 3 }, () => freePort()));
  const [, second, third] = ports;
  gateway = await startGateway({
    config: manifests(ports, upstream.host, [
      policy("all", "", `frontend: {http: {http1MaxHeaders: 4}, ${denied(NOWHERE)}}`),
      policy(
        "second",
        `, port: ${second}`,
        `frontend: {http: {http1MaxHeaders: 9}, ${denied(NOT_ON_SECOND)}}`,
      ),
      policy(
        "third",
        `, port: ${third}`,
        "frontend: {proxyProtocol: {mode: Optional, version: V1, trustedSources: [127.0.0.0/8]}}",
      ),
    ]),
  });
});

/** Returns all that comes back on the nth port for a request with so many headers of its own; "" if the connection is closed. */
async function ask(index: number, localAddress: string, { headers = 0, first = "" } = {}) {
  const socket = connect({ port: ports[index] ?? 0, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  const own = Array.from({ length: headers }, (_, at) => `X-${at}: a\r\n`).join("");
  socket.write(`${first}GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${own}\r\n`);
  return text(socket).catch(() => "");
}

const answered = expect.stringMatching(/^HTTP\/1\.1 200 OK/);

describe("a policy of one port of a Gateway", () => {
  it("adds its rules for connections to those of the Gateway", async () => {
    for (const index of [0, 1, 2]) {
      expect(await ask(index, ANYONE)).toEqual(answered);
      expect(await ask(index, NOWHERE)).toBe("");
    }
    expect(await ask(0, NOT_ON_SECOND)).toEqual(answered);
    expect(await ask(1, NOT_ON_SECOND)).toBe("");
    expect(await ask(2, NOT_ON_SECOND)).toEqual(answered);
  });

  it("replaces other fields of the Gateway", async () => {
    expect(await ask(0, ANYONE, { headers: 3 })).toMatch(/^HTTP\/1\.1 431/);
    expect(await ask(1, ANYONE, { headers: 3 })).toEqual(answered);
    expect(await ask(1, ANYONE, { headers: 9 })).toMatch(/^HTTP\/1\.1 431/);
  });

  it("decides whether proxies announce clients on the port", async () => {
    const first = `PROXY TCP4 ${NOWHERE} 127.0.0.1 4711 80\r\n`;
    expect(await ask(2, ANYONE, { first })).toBe("");
    expect(await ask(0, ANYONE, { first })).toMatch(/^HTTP\/1\.1 400/);
    const other = `PROXY TCP4 ${ANYONE} 127.0.0.1 4711 80\r\n`;
    expect(await ask(2, NOWHERE, { first: other })).toEqual(answered);
  });

  it("is named in the log if it closes a connection", async () => {
    await ask(1, NOT_ON_SECOND);
    await gateway.seen(/not allowed by GatewayPolicy default\/\S+ spec\.frontend/);
  });
});

describe("mistakes in policies of ports", () => {
  const check = (...policies: readonly string[]) =>
    complaints(checkManifests(manifests([80, 81, 82], "127.0.0.1:1", policies))).map((each) =>
      each.replace(/^\d+ /, ""),
    );

  it("are reported", () => {
    expect(check(policy("p", ", port: 81", `frontend: {${denied(NOWHERE)}}`))).toEqual([]);
    expect(check(policy("p", ", port: 83", `frontend: {${denied(NOWHERE)}}`))).toEqual([
      expect.stringMatching(/^missing-section: .*"83"/),
    ]);
    expect(check(policy("p", ", port: 0", `frontend: {${denied(NOWHERE)}}`))).toEqual([
      expect.stringContaining("port"),
    ]);
    const both = check(
      policy("p", ", port: 81, sectionName: second", `frontend: {${denied(NOWHERE)}}`),
    );
    expect(both).toContainEqual(expect.stringMatching(/"sectionName".*"port"/));
  });

  it("include fields that are not of a port", () => {
    const fields: readonly (readonly [field: string, frontend: string])[] = [
      ["frontend.accessLog", "frontend: {accessLog: {filter: 'true'}}"],
      [
        "frontend.metrics",
        "frontend: {metrics: {attributes: {add: [{name: a, expression: request.method}]}}}",
      ],
      ["frontend.http.maxBufferSize", "frontend: {http: {maxBufferSize: 1024}}"],
      ["traffic", "traffic: {timeouts: {request: 1s}}"],
      ["backend", "backend: {tcp: {connectTimeout: 1s}}"],
    ];
    for (const [field, written] of fields)
      expect(check(policy("p", ", port: 81", written))).toContainEqual(
        expect.stringMatching(`^wrong-target: "${field}" cannot target port 81 of `),
      );
  });

  it("include targets that have no ports", () => {
    for (const written of [
      `frontend: {${denied(NOWHERE)}}`,
      "traffic: {timeouts: {request: 1s}}",
      "",
    ]) {
      const ofRoute = policy("p", ", port: 81", written)
        .replace("kind: Gateway,", "kind: HTTPRoute,")
        .replace("name: gw", "name: r");
      expect(check(ofRoute)).toContainEqual(
        expect.stringMatching(/^wrong-target: "port" cannot target HTTPRoute/),
      );
    }
  });
});

describe("gwc diff", () => {
  it("names the port whose rules change", async () => {
    const config = (...policies: readonly string[]) =>
      manifests([80, 81, 82], "127.0.0.1:1", policies);
    const here = temporaryFolder({
      "before.yaml": config(),
      "after.yaml": config(
        policy("p", ", port: 81", `frontend: {http: {http1IdleTimeout: 5s}, ${denied(ANYONE)}}`),
      ),
    });
    const { stdout } = await gwc(["diff", "before.yaml", "after.yaml"], { cwd: here });
    expect(stdout).toMatch(/CLOSES .*:81/);
    expect(stdout).not.toMatch(/:80 |:82 /);
    expect(stdout).toContain("idleTimeout");
  });
});
