import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { type ClientReport, callEcho, type EchoService, startEcho } from "./echo.ts";

/** A GRPCRoute to the service, with a method for nobody, one with a deadline, and one whose server is not there. */
function manifests(port: number, server: number, gone: number): string {
  return `${gatewayManifest(port)}apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls}
spec:
  parentRefs: [{name: gw}]
  rules:
  - name: echo
    matches: [{method: {service: demo.Echo}}]
    filters:
    - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-added, value: here}]}}
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: echo}]
  - name: admin
    matches: [{method: {type: RegularExpression, service: "demo[.]Admin", method: "Del.*"}}]
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: echo}]
  - name: short
    matches: [{method: {service: demo.Echo, method: Unary}, headers: [{name: x-patience, value: none}]}]
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: echo}]
  - name: again
    matches: [{method: {service: demo.Echo, method: Unary}, headers: [{name: x-patience, value: some}]}]
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: echo}]
  - name: unary
    matches: [{method: {method: Unary}}]
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: gone}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: echo}
spec: {static: {host: 127.0.0.1, port: ${server}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: gone}
spec: {static: {host: 127.0.0.1, port: ${gone}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: admin}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls, sectionName: admin}]
  traffic: {authorization: {policy: {matchExpressions: ["false"]}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: short}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls, sectionName: short}]
  traffic: {timeouts: {request: 300ms}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: again}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls, sectionName: again}]
  traffic: {retry: {attempts: 2, codes: [503]}}
`;
}

const bytes = { to: (value: Buffer) => value, from: (value: Buffer) => value };

/** Result of a call of grpc-js. */
interface Called {
  readonly message: Buffer | undefined;
  readonly error: ServiceError | null;
}

function call(
  gateway: Gateway,
  method: string,
  message: string,
  metadata?: Metadata,
): Promise<Called> {
  const client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  return new Promise((resolve) => {
    const respond = (error: ServiceError | null, response?: Buffer) =>
      resolve({ message: response, error });
    const sent = Buffer.from(message);
    if (metadata === undefined)
      client.makeUnaryRequest(method, bytes.to, bytes.from, sent, respond);
    else client.makeUnaryRequest(method, bytes.to, bytes.from, sent, metadata, respond);
  });
}

describe("calls through a GRPCRoute", () => {
  let echo: EchoService;
  let gateway: Gateway;
  let report: ClientReport;

  beforeAll(async () => {
    echo = await startEcho();
    const config = manifests(await freePort(), echo.port, await freePort());
    gateway = await startGateway({ config });
    report = await callEcho(gateway.port);
  }, 300_000);

  it("grpcio's client gets messages, whatever their size, and the trailers behind them", () => {
    expect(report.unary).toEqual([
      5,
      { "x-behind": "the body", "x-seen": "here", "bytes-bin": "b'\\x00\\xff'" },
    ]);
    expect(report.large).toBe(3_000_000);
  });

  it("grpcio's client gets the status of a call that fails, with what it says", () => {
    expect(report.refused).toEqual(["FAILED_PRECONDITION", "not now: ä"]);
  });

  it("streams pass in both directions, and at the same time", () => {
    expect(report.count).toBe(1000);
    expect(report.join).toBe("a,b");
    expect(report.both).toEqual(["0", "1", "2", "OK"]);
  });

  it("what a policy denies or no rule matches is a status of gRPC", () => {
    expect(report.forbidden).toEqual(["PERMISSION_DENIED", "authorization failed"]);
    expect(report.unknown).toEqual(["UNIMPLEMENTED", "not found"]);
  });

  it("grpc-js gets messages, statuses and trailers", async () => {
    expect((await call(gateway, "/demo.Echo/Unary", "hello")).message?.toString()).toBe("hello");
    const { error } = await call(gateway, "/demo.Echo/Unary", "refuse");
    expect(error).toMatchObject({ code: status.FAILED_PRECONDITION, details: "not now: ä" });
    expect(error?.metadata.get("x-behind")).toEqual(["the body"]);
  });

  it("a server that is not there, and one that is too slow, are statuses of gRPC", async () => {
    const { error: gone } = await call(gateway, "/demo.Other/Unary", "");
    expect(gone).toMatchObject({ code: status.UNAVAILABLE, details: "upstream is not reachable" });
    const impatient = new Metadata();
    impatient.set("x-patience", "none");
    const { error: slow } = await call(gateway, "/demo.Echo/Unary", "wait", impatient);
    expect(slow?.code).toBe(status.DEADLINE_EXCEEDED);
  });

  it("a call that failed with a status to retry is made again, and no other one", async () => {
    const patient = new Metadata();
    patient.set("x-patience", "some");
    const unary = (message: string, metadata?: Metadata) =>
      call(gateway, "/demo.Echo/Unary", message, metadata);
    expect((await unary("busy")).error).toMatchObject({ code: status.UNAVAILABLE });
    expect((await unary("busy", patient)).message?.toString()).toBe("busy");
    await gateway.seen(/route=default\/calls\/again .*retry\.attempt=2 /);
    const { error } = await unary("refuse", patient);
    expect(error?.code).toBe(status.FAILED_PRECONDITION);
    expect(error?.metadata.get("x-attempt")).toEqual([]);
  });

  it("the server gets a cancellation when a client gives up", async () => {
    const client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    onTestFinished(() => client.close());
    const ended = new Promise<ServiceError | null>((resolve) => {
      const waiting = client.makeUnaryRequest(
        "/demo.Echo/Unary",
        bytes.to,
        bytes.from,
        Buffer.from("wait for me"),
        resolve,
      );
      void echo.waiting().then(() => waiting.cancel());
    });
    expect((await ended)?.code).toBe(status.CANCELLED);
    await echo.cancelled();
  });

  it("what is no call is not passed on, and is refused in HTTP's words", async () => {
    const { status: found } = await send(`${gateway.url}/demo.Echo/Unary`, "GET");
    expect(found).toBe(404);
    const denied = await send(`${gateway.url}/demo.Admin/Delete`, "POST", {
      "content-type": "application/grpc",
    });
    expect(denied.status).toBe(403);
  });

  it("the log says the status of each call", async () => {
    await call(gateway, "/demo.Echo/Unary", "refuse");
    await gateway.seen(/path=\/demo\.Echo\/Unary .*grpc\.status=9 /);
    await gateway.seen(/path=\/demo\.Admin\/Delete .*grpc\.status=7 reason=Authorization /);
  });
});
