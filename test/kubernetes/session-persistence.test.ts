import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { namedAddresses, startOnOnePort } from "../harness/same-port-servers.ts";
import { send } from "../harness/send.ts";
import { gatewayManifest } from "./gateway-manifest.ts";

const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];

/** A route of a kind to the pods of a Service, whose clients stay at their pods. */
const route = (kind: string, hostname: string, session: string, version = "v1") => `
apiVersion: gateway.networking.k8s.io/${version}
kind: ${kind}
metadata: {name: ${kind.toLowerCase()}}
spec:
  parentRefs: [{name: gw}]
  hostnames: [${hostname}]
  rules:
    - sessionPersistence: ${session}
      backendRefs: [{name: app, port: APP_PORT}]
---
`;

it("clients of HTTPRoutes and GRPCRoutes stay at the pod of a Service that they had", async () => {
  const { port } = await startOnOnePort(ADDRESSES, (address) => (_, response) => {
    response.end(address);
  });
  const manifests = [
    gatewayManifest(await freePort()),
    route("HTTPRoute", "http.test", "{sessionName: at, idleTimeout: 1h}"),
    route("GRPCRoute", "grpc.test", "{sessionName: x-at, type: Header}"),
    "{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {ports: [{port: APP_PORT, appProtocol: http}]}}",
    "---\n{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: '', kind: Service, name: app}], backend: {http: {version: HTTP1}}}}",
  ].join("\n");
  const gateway = await startGateway({
    config: manifests.replaceAll("APP_PORT", String(port)),
    env: namedAddresses({ "app.default.svc.cluster.local": ADDRESSES }),
  });
  const ask = (host: string, headers: Record<string, string>) =>
    send(`${gateway.url}/a.B/C`, "POST", { host, ...headers });
  const first = await ask("http.test", {});
  const [cookie = ""] = String(first.headers["set-cookie"]).split(";");
  const call = await ask("grpc.test", {});
  const token = String(call.headers["x-at"]);
  for (let i = 0; i < 12; i += 1) {
    expect((await ask("http.test", { cookie })).body).toBe(first.body);
    expect((await ask("grpc.test", { "x-at": token })).body).toBe(call.body);
  }
});
