import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { startExample } from "../harness/example-gateway.ts";
import { root } from "../harness/root.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that says its name; its address. */
async function named(name: string): Promise<string> {
  const server = createServer((_, response) => response.end(name));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
}

interface Response {
  readonly status: number | undefined;
  readonly text: string;
}

function get(
  port: number,
  target: string,
  headers: Readonly<Record<string, string>>,
  ca?: string,
): Promise<Response> {
  const options = { host: "127.0.0.1", port, path: target, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const sent =
      ca === undefined
        ? httpRequest(options)
        : httpsRequest({ ...options, ca, servername: "localhost" });
    sent.on("response", async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text });
    });
    sent.on("error", reject);
    sent.end();
  });
}

it("http: host, path, method, headers and query choose the route", async () => {
  const env = { USERS: await named("users"), BETA: await named("beta"), SITE: await named("site") };
  const example = await startExample("http", env);
  const ask = (
    host: string,
    target: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> => get(example.port, target, { host, "user-agent": "test", ...headers });
  const served = (text: string): Response => ({ status: 200, text });
  expect(await ask("api.example.com", "/users/1")).toEqual(served("users"));
  expect(await ask("api.example.com", "/whoami")).toEqual(served("users"));
  expect((await ask("api.example.com", "/usersx")).status).toBe(404);
  expect((await ask("other.example.com", "/users")).status).toBe(404);
  const beta = { "x-version": "beta" };
  expect(await ask("other.example.com", "/?feature=new-search", beta)).toEqual(served("beta"));
  expect((await ask("other.example.com", "/?feature=old", beta)).status).toBe(404);
  expect(await ask("anything.test", "/users")).toEqual(served("site"));
  expect((await ask("api.example.com", "/users", { "user-agent": "curl/7.1" })).status).toBe(403);
});

it("tls: the certificate's names are served, and its key is in no generated file", async () => {
  const example = await startExample("tls", { SITE: await named("site") });
  const ca = readFileSync(path.join(root, "examples/tls/certs/localhost.crt"), "utf8");
  expect(await get(example.port, "/", { host: "localhost" }, ca)).toEqual({
    status: 200,
    text: "site",
  });
  const main = readFileSync(path.join(root, "out/tls/main.ts"), "utf8");
  expect(main).toContain('file("certs/localhost.key")');
});
