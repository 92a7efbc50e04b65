import { expect, it } from "vitest";
import { requestProblems, requestSchema } from "../harness/provider-schema.ts";

const user = { role: "user", content: "Hello" };
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
const vertex = "/v1/projects/p/locations/l/publishers/google/models/m:generateContent";

/** Requests that are valid, what makes each of them another, and where that is told. */
const cases: readonly (readonly [string, object, object, string])[] = [
  [
    "/v1/chat/completions",
    { model: "m", messages: [user] },
    { messages: [user, { role: "assistant", tool_calls: [{ ...call, extra: 1 }] }] },
    "/messages/1/tool_calls/0 ",
  ],
  ["/v1/chat/completions", { model: "m", messages: [user] }, { top_k: 1 }, "top_k"],
  [
    "/v1/responses",
    { model: "m", input: [user] },
    { input: [{ type: "function_call_output", call_id: 1, output: "" }] },
    "/input/0/call_id",
  ],
  ["/v1/embeddings", { model: "m", input: "Hello" }, { dimensions: 0 }, "/dimensions"],
  [
    "/v1/messages",
    { model: "m", max_tokens: 9, messages: [user] },
    {
      messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a b" }] }],
    },
    "/messages/0/content/0/tool_use_id",
  ],
  [
    "/v1beta/models/m:generateContent",
    { contents },
    { generationConfig: { max_tokens: 1 } },
    "/generationConfig",
  ],
  [vertex, { contents }, { tools: [{ functionDeclarations: [{ schema: {} }] }] }, "/tools/0/func"],
  [
    "/model/m/converse-stream",
    { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    { messages: [{ role: "user", content: [{ text: "a", image: {} }] }] },
    "/messages/0/content/0",
  ],
];

it.each(cases)("a request to %s that its provider refuses is told", (url, valid, change, place) => {
  const schema = requestSchema(url) ?? ["", ""];
  expect(requestProblems(schema, valid)).toEqual([]);
  expect(requestProblems(schema, { ...valid, ...change }).join("\n")).toContain(place);
});
