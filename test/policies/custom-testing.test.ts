import { describe, expect, it } from "vitest";
import { definePolicy } from "../../runtime/policy/policy.ts";
import {
  testHook,
  testPolicy,
  testResponse,
  testResponseBody,
} from "../../runtime/policy/testing.ts";

const policy = definePolicy({
  options: { word: { type: "string", default: "red" } },
  request(request) {
    if (request.headers.get("x-team") === null) return request.refuse(403, "no team");
  },
  toolCall({ arguments: given }, { word }, request) {
    if (given.text === word) return request.refuse(403, `no ${word}`);
  },
  toolResult({ result }) {
    return { ...result, isError: false };
  },
  toolList(tools) {
    return tools.filter(({ name }) => name !== "drop");
  },
  prompt({ texts }, { word }) {
    return texts.map(({ text }) => text.replaceAll(word, "blue"));
  },
  completion({ texts }, { word }, request) {
    if (texts.some(({ text }) => text.includes(word))) return request.refuse(403, "not for you");
  },
  async responseBody(body, { word }, response) {
    const text = new TextDecoder().decode(body);
    if (text === "forbidden") return response.request.refuse(451, "not here", { "x-why": word });
    return text.replaceAll(word, "blue");
  },
  responseStream() {
    return new TransformStream<Uint8Array, Uint8Array>({
      flush(controller) {
        controller.enqueue(new TextEncoder().encode("!"));
      },
    });
  },
  response(response) {
    response.headers.set("x-path", response.request.path);
  },
});

describe("gwc/policy/testing", () => {
  it("runs the hooks for requests", async () => {
    expect((await testPolicy(policy)).refusal).toMatchObject({ status: 403, message: "no team" });
  });

  it("runs the hook for heads", () => {
    const { headers } = testResponse(policy, {}, {}, { url: "http://localhost/a" });
    expect(headers.get("x-path")).toBe("/a");
  });

  it("runs the hooks for the bodies of responses", async () => {
    const { body, headers } = await testResponseBody(policy, {}, { body: "a red word" });
    expect([body, headers.get("x-path")]).toEqual(["a blue word!", "/"]);
    expect(await testResponseBody(policy, {}, { body: "forbidden" })).toMatchObject({
      ...{ status: 451, body: "not here" },
    });
  });

  it("runs the hooks for tools", async () => {
    const call = { tool: "say", arguments: { text: "green" } };
    expect(await testHook(policy, "toolCall", call)).toEqual({ refusal: undefined });
    expect(await testHook(policy, "toolCall", call, { word: "green" })).toMatchObject({
      refusal: { status: 403, message: "no green" },
    });
    const result = { tool: "say", result: { content: [] } };
    expect((await testHook(policy, "toolResult", result)).value).toEqual({
      ...{ content: [], isError: false },
    });
    const tools = [{ name: "say" }, { name: "drop" }];
    expect((await testHook(policy, "toolList", tools)).value).toEqual([{ name: "say" }]);
  });

  it("runs the hooks for texts", async () => {
    const texts = [{ role: "user", text: "red" }];
    expect((await testHook(policy, "prompt", { texts })).value).toEqual(["blue"]);
    expect((await testHook(policy, "completion", { texts })).refusal).toMatchObject({
      ...{ status: 403, message: "not for you" },
    });
  });
});
