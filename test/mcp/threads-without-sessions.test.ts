import { beforeAll, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { breakDown } from "../harness/fragile-threads.ts";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { startAskingServer } from "./asking-server.ts";
import { messagesOf } from "./raw-client.ts";
import { ask } from "./stateless-client.ts";
import { as } from "./subjects.ts";
import { many, startThreads } from "./thread-gateway.ts";

describe("a call that waits for a client without sessions", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const asking = await startAskingServer();
    const targets = [{ name: "asking", mcp: { host: asking.url } }];
    gateway = await startThreads([{ name: "mcp", targets, hasSubjects: true }]);
  });

  const call = async (params: object = {}, headers = {}) =>
    JSON.parse(
      JSON.stringify(
        messagesOf(
          await ask(gateway.url, "tools/call", { name: "t", arguments: {}, ...params }, headers),
        ).at(-1),
      ),
    );
  const waiting = async () =>
    (await expositionOf(await gateway.statsPort())).value('gwc_mcp_waiting_calls{era="stateless"}');
  const inputResponses = { r1: { action: "accept" } };

  it("continues on whichever thread the client returns to", async () => {
    const asked = await Promise.all(many.map(() => call()));
    expect(await waiting()).toBe(many.length);
    const ended = await Promise.all(
      asked.map(({ result }) => call({ requestState: result.requestState, inputResponses })),
    );
    for (const { result } of ended) expect(result).toMatchObject({ resultType: "complete" });
    expect(await waiting()).toBe(0);
  });

  it("belongs to its caller, continues once, and ends with its thread", async () => {
    const { requestState } = (await call({}, as("ada"))).result;
    const goOn = (headers: object) => call({ requestState, inputResponses }, headers);
    for (const { error } of await Promise.all(many.map(() => goOn(as("bob")))))
      expect(error).toMatchObject({ code: -32602, message: "Invalid requestState" });
    const found = await Promise.all(many.map(() => goOn(as("ada"))));
    expect(found.filter(({ result }) => result !== undefined)).toHaveLength(1);
    const before = await Promise.all(many.map(() => call()));
    for (const index of [0, 1, 2]) {
      const from = gateway.output.length;
      breakDown(gateway, index);
      await gateway.seen(/another thread replaces it/, from);
    }
    for (const { result } of before) {
      const { error } = await call({ requestState: result.requestState, inputResponses });
      expect(error.message).toMatch(/has ended or waits on another replica/);
    }
  });
});

it("all requests of a caller share one child without sessions, on whichever thread", async () => {
  const server = ownScript("conformance/stateless-server.ts");
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args: [server, "stdio"] } };
  const gateway = await startThreads([{ name: "mcp", targets: [stdio], hasSubjects: true }]);
  const started = async () =>
    (await expositionOf(await gateway.statsPort())).value(
      'gwc_mcp_stdio_processes{target="stdio"}',
    );
  const list = async (subject: string) =>
    (await ask(gateway.url, "tools/list", {}, as(subject))).status;
  for (const subject of ["ada", "bob", "eve"])
    expect(new Set(await Promise.all(many.map(() => list(subject))))).toEqual(new Set([200]));
  expect(await started()).toBe(3);
  // The server uses state of its process in the next request.
  const call = async (params: object = {}) =>
    JSON.parse(
      (
        await ask(
          gateway.url,
          "tools/call",
          {
            name: "test_input_required_result_request_state",
            arguments: {},
            ...params,
          },
          as("ada"),
        )
      ).text,
    );
  for (const _ of many.slice(0, 10)) {
    const { inputRequests, requestState } = (await call()).result;
    const [name = ""] = Object.keys(inputRequests);
    const inputResponses = { [name]: { action: "accept", content: { ok: true } } };
    expect(JSON.stringify(await call({ requestState, inputResponses }))).toContain("state-ok");
  }
  for (const index of [0, 1, 2]) {
    const from = gateway.output.length;
    breakDown(gateway, index);
    await gateway.seen(/another thread replaces it/, from);
    expect(await list("ada")).toBe(200);
  }
});
