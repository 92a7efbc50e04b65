import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { startExample } from "../harness/example-gateway.ts";
import { pythonFor } from "../harness/python.ts";
import { root } from "../harness/root.ts";
import { send } from "../harness/send.ts";
import { TestProcess } from "../harness/test-process.ts";

let url: string;

beforeAll(async () => {
  const python = await pythonFor("tests");
  const script = path.join(root, "examples", "callouts", "servers.py");
  const servers = new TestProcess(python, [script, "0", "0"]);
  const [, callouts = "", shop = ""] = await servers.seen(/callouts on (\S+), shop on (\S+)/);
  const { port } = await startExample("callouts", { CALLOUTS: callouts, SHOP: shop }, patiently);
  url = `http://127.0.0.1:${port}`;
});

/** A starved server takes longer than its calls may. */
function patiently(config: string): string {
  return config
    .replace(/ +policies:\n +http:\n +requestTimeout: 500ms\n/, "")
    .replace(/^( +)host: \$\{CALLOUTS.*$/gm, "$&\n$1policies: { http: { requestTimeout: 60s } }");
}

function get(at: string, token?: string) {
  return send(`${url}${at}`, "GET", token === undefined ? {} : { authorization: token });
}

it("asks who it is, and masks what the shop responds", async () => {
  const order = await get("/orders", "Bearer root");
  expect([order.status, order.body]).toEqual([
    200,
    "/orders of root, paid with 4111 **** **** 1111\n",
  ]);
  const nobody = await get("/orders");
  expect([nobody.status, nobody.body]).toEqual([401, "who are you?\n"]);
});

it("lets rules and limits follow from what the authorization server says", async () => {
  expect((await get("/accounts", "Bearer root")).status).toBe(200);
  expect((await get("/accounts", "Bearer anna")).status).toBe(403);
  const responses = [];
  // A minute may begin between two of them.
  for (let i = 0; i < 7; i += 1) responses.push(await get("/orders", "Bearer anna"));
  const refused = responses.find(({ status }) => status === 429);
  expect(responses[0]).toMatchObject({ status: 200, headers: { "x-ratelimit-limit": "3" } });
  expect(refused?.body).toBe("rate limit exceeded");
});
