import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { send } from "../harness/send.ts";
import { ConnectionWorld, type Person } from "./connection-world.ts";

let world: ConnectionWorld;

beforeAll(async () => {
  world = await ConnectionWorld.start();
});

async function call(
  { authorization }: Person,
  { path = "/site/echo", method = "GET", headers = {}, body }: Partial<Call> = {},
) {
  const all = { authorization, ...headers };
  const response = await send(`${world.base}${path}`, method, all, body);
  return { ...response, json: () => JSON.parse(response.body) };
}

interface Call {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const digest = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Asks for another protocol. Returns the status, and what came after it. */
async function upgrade({ authorization }: Person) {
  const request = httpRequest(`${world.base}/site/ws`, {
    headers: { authorization, connection: "upgrade", upgrade: "echo" },
  });
  request.end();
  const [response, socket, head = ""] = await Promise.race([
    once(request, "upgrade"),
    once(request, "response"),
  ]);
  // Bytes that arrive together with the head of the response.
  let text = String(head);
  for await (const chunk of socket ?? response) text += chunk;
  return { status: response.statusCode, text };
}

describe("a user without a connection", () => {
  it("gets a 403 with the address of the page in a program", async () => {
    const refused = await call(await world.person("ada"));
    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({
      error: "account_not_connected",
      connection: "users",
      url: `${world.base}/connect/users`,
    });
    expect(refused.headers["www-authenticate"]).toBeUndefined();
  });

  it("gets a page with the link in a browser", async () => {
    const ben = await world.person("ben");
    const page = await ben.agent.open(`${world.base}/portal/echo`);
    expect(page.status).toBe(403);
    expect(page.body).toContain(`href="${world.base}/connect/brief"`);
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("cannot switch to another protocol", async () => {
    const refused = await upgrade(await world.person("cleo"));
    expect(refused.status).toBe(403);
    expect(refused.text).toContain(`${world.base}/connect/users`);
  });
});

describe("a connected user", () => {
  it("gets responses for the user's own account", async () => {
    const dora = await world.person("dora");
    await world.connectAccount(dora, "users");
    expect((await call(dora)).json()).toMatchObject({ user: "dora", method: "GET" });
    expect(await upgrade(dora)).toEqual({ status: 101, text: "dora" });
    await world.connectAccount(dora, "brief");
    const page = await dora.agent.open(`${world.base}/portal/echo?a=1`);
    expect(JSON.parse(page.body)).toMatchObject({ user: "dora", url: "/api/echo?a=1" });
  });

  it("cannot name another one", async () => {
    const [eve, finn] = [await world.person("eve"), await world.person("finn")];
    await world.connectAccount(finn, "users");
    const [issuer] = [JSON.parse(atob(finn.authorization.split(".")[1] ?? "")).iss];
    const headers = { "gwc-connection-user": JSON.stringify([issuer, "finn"]) };
    expect((await call(eve, { headers })).status).toBe(403);
  });

  it("has a request repeated with a renewed token if the server refuses the old one", async () => {
    const gil = await world.person("gil");
    await world.connectAccount(gil, "users");
    for (const body of ["", "a small body"]) {
      expect((await call(gil)).status).toBe(200);
      for (const token of world.users.tokens) world.users.refused.add(token);
      world.users.asked.length = 0;
      const called = await call(gil, { method: "POST", body });
      expect(called.json()).toMatchObject({ user: "gil", digest: digest(body) });
      expect(world.users.asked).toEqual(["refresh_token"]);
    }
    for (const token of world.users.tokens) world.users.refused.add(token);
    expect(await upgrade(gil)).toEqual({ status: 101, text: "gil" });
  });

  it("sends a large body once, and gets 503 if the token was refused", async () => {
    const hal = await world.person("hal");
    await world.connectAccount(hal, "users");
    const body = randomBytes(3_000_000).toString("hex");
    const large = { method: "POST", body };
    expect((await call(hal, large)).json()).toMatchObject({ user: "hal", digest: digest(body) });
    for (const token of world.users.tokens) world.users.refused.add(token);
    const again = await call(hal, large);
    expect([again.status, again.headers["retry-after"]]).toEqual([503, "1"]);
    expect((await call(hal, large)).json()).toMatchObject({ user: "hal", digest: digest(body) });
  });

  it("whose tokens are no longer accepted connects again", async () => {
    const ida = await world.person("ida");
    await world.connectAccount(ida, "users");
    expect((await call(ida)).status).toBe(200);
    // The user ends the access at the server itself.
    const [token = ""] = [...world.users.tokens].slice(-1);
    await world.users.end(token);
    expect((await call(ida)).status).toBe(403);
    await world.connectAccount(ida, "users");
    expect((await call(ida)).json()).toMatchObject({ user: "ida" });
  });
});
