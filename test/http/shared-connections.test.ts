import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:http2";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";

/** A server of plain HTTP, whichever version is spoken, and the connections that it got. */
async function startCounting(version: 1 | 2): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server =
    version === 1
      ? createServer((_request, response) => response.end("ok"))
      : createSecureServer((_request, response) => response.end("ok"));
  server.on("connection", () => {
    connections += 1;
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, connections: () => connections };
}

function route(path: string, host: string, policies: object): object {
  return {
    name: path,
    matches: [{ path: { pathPrefix: `/${path}` } }],
    backends: [{ host, policies }],
  };
}

async function ask(url: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) expect(await (await fetch(`${url}/${path}`)).text()).toBe("ok");
}

it.each([1, 2] as const)(
  "routes that reach a server in the same way share its connections, others have their own (HTTP/%s)",
  async (version) => {
    const { url, connections } = await startCounting(version);
    const http = version === 2 ? { http: { version: "HTTP2" } } : {};
    const gateway = await startGateway({
      listeners: [
        {
          routes: [
            route("first", url, http),
            // Settings of requests make no difference to connections.
            route("second", url, {
              ...http,
              http: { ...http.http, requestTimeout: "7s" },
              requestHeaderModifier: { add: { "x-a": "b" } },
            }),
            route("third", url, { ...http, tcp: { connectTimeout: "3s" } }),
          ],
        },
      ],
    });
    await ask(gateway.url, ["first", "second", "first", "second"]);
    expect(connections()).toBe(1);
    await ask(gateway.url, ["third", "third"]);
    expect(connections()).toBe(2);
  },
);
