import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

const kept = {
  id: "resp_123456789",
  object: "response",
  model: "m",
  status: "completed",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Mail ann@example.com.", annotations: [] }],
    },
  ],
  usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
};

const items = {
  object: "list",
  data: [
    {
      id: "msg_123456789",
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "I am 123-45-6789." }],
    },
  ],
  first_id: "msg_123456789",
  last_id: "msg_123456789",
  has_more: false,
};

const events = [
  { type: "response.created", sequence_number: 0, response: { ...kept, output: [] } },
  ...["Mail ann@exam", "ple.com."].map((delta, index) => ({
    ...{ type: "response.output_text.delta", sequence_number: index + 1 },
    ...{ item_id: "msg_1", output_index: 0, content_index: 0, delta },
  })),
  { type: "response.completed", sequence_number: 3, response: kept },
];

const rules = [{ builtin: "email" }, { builtin: "ssn" }];
const guards = {
  mask: [{ regex: { rules } }],
  reject: [
    {
      regex: { rules, action: "reject" },
      response: { message: "Not for you.", statusCode: 451 },
    },
  ],
};

let provider: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  provider = await startScripted((response, _, { method, url }) => {
    const json = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (url.includes("resp_missing")) {
      json(404, { error: { message: "Ask ann@example.com for resp_missing." } });
    } else if (method === "DELETE") {
      json(200, { id: kept.id, object: "response", deleted: true });
    } else if (url.includes("stream=true")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(""),
      );
    } else json(200, url.includes("/input_items") ? items : kept);
  });
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(guards).map(([name, response]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ai: { routes: { "/v1/responses": "responses" }, promptGuard: { response } },
          },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: provider.host } }],
        })),
      },
    ],
  });
});

function responses(guard: keyof typeof guards): OpenAI["responses"] {
  const baseURL = `${gateway.url}/${guard}/v1`;
  return new OpenAI({ apiKey: "client-key", baseURL, maxRetries: 0 }).responses;
}

describe("a response that the provider keeps", () => {
  it("is guarded when it is asked for, cancelled or listed, and its ids stay", async () => {
    const found = await responses("mask").retrieve(kept.id);
    expect(found).toMatchObject({ id: kept.id, output_text: "Mail <EMAIL_ADDRESS>." });
    const cancelled = JSON.stringify(await responses("mask").cancel(kept.id));
    expect(cancelled).toContain("Mail <EMAIL_ADDRESS>.");
    const { data } = await responses("mask").inputItems.list(kept.id);
    expect(data).toMatchObject([{ id: "msg_123456789", content: [{ text: "I am <SSN>." }] }]);
    const raw = await responses("mask").inputItems.list(kept.id).asResponse();
    expect(await raw.json()).toMatchObject({ first_id: items.first_id, last_id: items.last_id });
    expect(provider.received.at(-1)?.headers.authorization).toBe("Bearer provider-key");
  });

  it("is guarded as a stream, too", async () => {
    const stream = await responses("mask").retrieve(kept.id, { stream: true });
    let text = "";
    let last = "";
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") text += event.delta;
      last = JSON.stringify(event);
    }
    expect(text).toBe("Mail <EMAIL_ADDRESS>.");
    expect(last).toContain("Mail <EMAIL_ADDRESS>.");
    expect(last).not.toContain("ann@");
  });

  it("does not reach the client when a guard rejects it", async () => {
    const asked = responses("reject").retrieve(kept.id);
    await expect(asked).rejects.toMatchObject({
      status: 451,
      message: expect.stringContaining("Not for you."),
    });
    await gateway.seen(/path=\/reject\/v1\/responses\/resp_123456789 .*reason=PromptGuard/);
  });

  it("is deleted, and what the provider says instead is guarded", async () => {
    await responses("mask").delete(kept.id);
    expect(provider.received.at(-1)?.method).toBe("DELETE");
    const complaint = (guard: keyof typeof guards, method: "delete" | "retrieve") =>
      responses(guard)
        [method]("resp_missing")
        .then(String, (thrown: Error) => thrown.message);
    expect(await complaint("mask", "delete")).toBe("404 Ask <EMAIL_ADDRESS> for resp_missing.");
    expect(await complaint("mask", "retrieve")).toBe("404 Ask <EMAIL_ADDRESS> for resp_missing.");
    expect(await complaint("reject", "delete")).toBe("451 Not for you.");
  });
});
