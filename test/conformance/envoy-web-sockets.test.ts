import { createServer } from "node:http";
import type { Socket } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { startEnvoy } from "../harness/envoy.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startRoutes } from "../policies/routes.ts";
import { extAuthzSetups, extProcSetups } from "./envoy/setups.ts";

const setups = { ...extAuthzSetups, ...extProcSetups };

let services: EnvoyServices;
/** Address of a setup at each of both proxies. */
let proxies: Readonly<Record<"envoy" | "gateway", (setup: string) => string>>;

beforeAll(async () => {
  services = await startEnvoyServices();
  const host = `127.0.0.1:${services.port}`;
  const url = `http://127.0.0.1:${await startUpstream()}`;
  const all = Object.entries(setups);
  const [envoys, gateway] = await Promise.all([
    startEnvoy({
      upstream: new URL(url).host,
      services: host,
      listeners: all.map(([name, setup]) => ({ name, ...setup.envoy })),
    }),
    startRoutes(
      Object.fromEntries(all.map(([name, setup]) => [name, { policies: setup.gateway(host) }])),
      { url },
    ),
  ]);
  proxies = { envoy: (setup) => envoys.get(setup) ?? "", gateway: () => gateway.url };
});

/** Changes the protocol and says what it gets in capitals. */
function startUpstream(): Promise<number> {
  const server = createServer();
  server.on("upgrade", (_, socket: Socket) => {
    socket.on("error", () => {});
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.on("data", (bytes) => socket.write(String(bytes).toUpperCase()));
    socket.on("end", () => socket.end());
  });
  return listen(server);
}

/**
 * Returns the calls to servers about a WebSocket behind one of both, in order, after `hello` has come back or the
 * WebSocket was refused.
 */
async function asked(proxy: "envoy" | "gateway", setup: string) {
  const before = services.seen().length;
  const client = new RawClient(Number(new URL(proxies[proxy](setup)).port));
  client.send(
    `GET /${setup} HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  const seen = () => services.seen().slice(before);
  await eventually(() => /^HTTP\/1.1 101 /.test(client.received) || null, "the other protocol");
  client.send("hello");
  await client.receives("HELLO");
  client.socket.destroy();
  return seen().map(({ message }) => message);
}

function phasesOf(messages: readonly object[]): readonly string[] {
  return messages.flatMap((message) =>
    Object.keys(message).filter((field) => /^(request|response)_/.test(field)),
  );
}

describe("of a WebSocket", () => {
  it("an authorization server gets the protocol that is asked for, as behind Envoy", async () => {
    const protocols = async (proxy: "envoy" | "gateway") => {
      const [message] = await asked(proxy, "plain");
      return message.attributes.request.http.headers.upgrade;
    };
    expect([await protocols("envoy"), await protocols("gateway")]).toEqual([
      "websocket",
      "websocket",
    ]);
  });

  it("so does a processor", async () => {
    const protocols = async (proxy: "envoy" | "gateway") => {
      const [message] = await asked(proxy, "none");
      const fields: readonly { key: string; raw_value: string }[] =
        message.request_headers.headers.headers;
      return Buffer.from(
        fields.find(({ key }) => key === "upgrade")?.raw_value ?? "",
        "base64",
      ).toString();
    };
    expect([await protocols("envoy"), await protocols("gateway")]).toEqual([
      "websocket",
      "websocket",
    ]);
  });

  // Envoy shows the head of the 101 and, where bodies go in pieces, the tunnel's bytes as one; where whole bodies are
  // asked for it waits for an end that never comes.
  it.each(["none", "streamed", "duplex"] as const)(
    "a processor gets the head of the request alone, where Envoy shows more: %s",
    async (setup) => {
      const body = setup === "none" ? [] : ["request_body", "response_body"];
      expect(phasesOf(await asked("envoy", setup))).toEqual([
        ...["request_headers", "response_headers"],
        ...body,
      ]);
      expect(phasesOf(await asked("gateway", setup))).toEqual(["request_headers"]);
    },
  );

  it.each(["buffered", "partial"] as const)(
    "a processor gets the head of the request, and the tunnel opens: %s",
    async (setup) => {
      expect(phasesOf(await asked("gateway", setup))).toEqual(["request_headers"]);
    },
  );
});
