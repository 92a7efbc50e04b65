import { beforeAll, expect, it } from "vitest";
import { type Echo, startEcho } from "../harness/echo.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { initialize, post } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";

let gateway: Gateway;
let echo: Echo;
let ports: readonly number[];

beforeAll(async () => {
  echo = await startEcho();
  const mcp = await startUpstream(mcpResponses({}));
  const mail = await startTcpServer((socket) => {
    socket.write("220 ready\r\n");
  });
  ports = await freePorts(4);
  const [main = 0, split = 0, raw = 0, own = 0] = ports;
  const host = new URL(echo.url).host;
  const marked = (value: string) => ({ requestHeaderModifier: { set: { by: value } } });
  const route = (name: string, rest: object = {}) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    backends: [{ host }],
    ...rest,
  });
  gateway = await startGateway({
    config: {
      gateways: {
        default: { port: main },
        split: {
          port: split,
          listeners: [
            { name: "a", hostname: "a.test", cors: { allowOrigins: ["https://app.test"] } },
            { hostname: "b.test" },
          ],
        },
        raw: { port: raw, protocol: "TCP" },
      },
      routes: [
        route("implicit"),
        route("everywhere", { gateways: ["default", "split"] }),
        route("second", { gateways: "split/listener1" }),
        route("named", { gateways: "split", hostnames: ["a.test"] }),
        route("same", { gateways: "split/a" }),
        route("rest", { gateways: "split", matches: [{ path: { pathPrefix: "/same" } }] }),
      ],
      tcpRoutes: [{ gateways: "raw", backends: [{ host: `127.0.0.1:${mail.port}` }] }],
      mcp: { targets: [{ name: "a", mcp: { host: mcp.url } }] },
      policies: [
        { target: { gateway: { listenerName: "split/a" } }, policy: marked("a listener") },
        { target: { gateway: { port: main } }, policy: marked("a port") },
        { target: { route: { name: "second" } }, policy: marked("a route") },
        {
          target: { gateway: { gatewayName: "split" } },
          policy: {
            ...marked("a gateway"),
            authorization: { rules: [{ deny: 'request.path.endsWith("/closed")' }] },
          },
        },
      ],
      binds: [{ port: own, listeners: [{ routes: [route("bound")] }] }],
    },
  });
  for (const port of ports) await gateway.seen(new RegExp(`listening on [^:]+:${port}`));
});

async function by(port: number | undefined, path: string, host = "a.test") {
  const { status, body } = await send(`http://127.0.0.1:${port}${path}`, "GET", { host });
  return status === 200 ? (JSON.parse(body).headers.by ?? "nothing") : status;
}

it("a route without gateways serves the gateway named default only", async () => {
  const [main, split] = ports;
  expect(await by(main, "/implicit")).toBe("a port");
  expect(await by(split, "/implicit")).toBe(404);
});

it("a route serves every listener of its gateways, with the policies of each", async () => {
  const [main, split] = ports;
  expect(await by(main, "/everywhere")).toBe("a port");
  expect(await by(split, "/everywhere")).toBe("a listener");
  expect(await by(split, "/everywhere", "b.test")).toBe("a gateway");
});

it("a policy can target one of the gateways", async () => {
  const [main, split] = ports;
  expect(await by(main, "/everywhere/closed")).toBe("a port");
  expect(await by(split, "/everywhere/closed")).toBe(403);
  expect(await by(split, "/everywhere/closed", "b.test")).toBe(403);
});

it("a route serves one listener by the name or the number of that listener", async () => {
  const split = ports[1];
  expect(await by(split, "/second")).toBe(404);
  expect(await by(split, "/second", "b.test")).toBe("a route");
});

it("a route serves the listeners on which no earlier route has the same match", async () => {
  const at = async (host: string) =>
    JSON.parse((await send(`http://127.0.0.1:${ports[1]}/same`, "GET", { host })).body).url;
  expect([await at("a.test"), await at("b.test")]).toEqual(["/same", "/same"]);
});

it("a route with hostnames serves the listeners of its gateway that match them", async () => {
  const split = ports[1];
  expect(await by(split, "/named")).toBe("a listener");
  expect(await by(split, "/named", "b.test")).toBe(404);
});

it("policies of a listener run before routing", async () => {
  const split = ports[1];
  const asked = { origin: "https://app.test", "access-control-request-method": "GET" };
  const allowed = async (host: string) => {
    const url = `http://127.0.0.1:${split}/nowhere`;
    return (await send(url, "OPTIONS", { ...asked, host })).headers["access-control-allow-origin"];
  };
  expect(await allowed("a.test")).toBe("https://app.test");
  expect(await allowed("b.test")).toBeUndefined();
});

it("a connection route serves a TCP gateway", async () => {
  const client = new RawClient(ports[2] ?? 0);
  await client.receives("220 ready\r\n");
});

it("mcp attaches to the gateway named default, at /mcp", async () => {
  const [main] = ports;
  expect((await post(`http://127.0.0.1:${main}/mcp`, initialize)).status).toBe(200);
  expect((await post(`http://127.0.0.1:${main}/other`, initialize)).status).toBe(404);
});

it("binds can be used next to gateways", async () => {
  expect(await by(ports[3], "/bound")).toBe("nothing");
});
