import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import type { Scripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { clientOf, startCallersGateway } from "./callers-gateway.ts";
import { RAW, startContainers } from "./containers-upstream.ts";

let upstream: Scripted;
const gateways: Record<string, Gateway> = {};

beforeAll(async () => {
  upstream = await startContainers();
  const other = await startContainers();
  const params = { apiKey: "${KEY}", hostOverride: upstream.host };
  const models = [
    { name: "gpt", provider: "openAI", params },
    { name: "other", provider: "openAI", params: { ...params, hostOverride: other.host } },
  ];
  gateways.files = await startCallersGateway({ models });
  gateways.responses = await startCallersGateway({ apis: ["moderations"], models });
  gateways.random = await startCallersGateway({ models, sessionKey: "" });
});

it("ids that end with the process are reported when it starts", async () => {
  const warning = /SESSION_KEY is not set: ids of files, batches and stored responses/;
  await gateways.random?.seen(warning);
  expect(gateways.files?.output).not.toMatch(warning);
});

describe.each(["files", "responses"])("an item of a response, on a route of %s", (name) => {
  const gateway = () => gateways[name] as Gateway;
  const responsesOf = (key: string) => clientOf(gateway(), key).responses;
  const ask = { model: "gpt", input: "Plot it." };

  async function idsOfAnn() {
    const { id, output } = await responsesOf("ann-key").create(ask);
    return { response: id, message: output.at(-1)?.id ?? "" };
  }

  /** Sends a request with one item, in JSON. Returns the item as the provider gets it, or the refusal of the gateway. */
  async function sent(key: string, item: string, more = '"model":"gpt"'): Promise<string> {
    const before = upstream.received.length;
    const url = `${gateway().url}/v1/responses`;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await send(url, "POST", headers, `{"input":[${item}],${more}}`);
    if (upstream.received.length === before) return `${response.status} ${response.body}`;
    const { input } = JSON.parse(upstream.received.at(-1)?.body.toString() ?? "");
    return JSON.stringify(input[0]);
  }

  it("has an id for its caller, the same one in each response, event and list", async () => {
    const ann = responsesOf("ann-key");
    const { response, message } = await idsOfAnn();
    expect(message).toMatch(/^msg_[\w-]{50,}$/);
    const stream = await ann.create({ ...ask, stream: true });
    let events = "";
    for await (const event of stream) events += JSON.stringify(event);
    const items = [...events.matchAll(/"item_id":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(items)).toEqual(new Set([message]));
    const listed = await ann.inputItems.list(response, { after: message }).asResponse();
    expect(upstream.received.at(-1)?.url).toContain(`?after=${RAW.message}`);
    const list: unknown = await listed.json();
    expect(list).toMatchObject({ data: [{ id: message }], first_id: message, last_id: message });
    const all = events + JSON.stringify([list, await ann.retrieve(response)]);
    expect(all).not.toMatch(/"(?:resp|msg|ci|cntr)_RAW"/);
  });

  it("is referred to by its caller", async () => {
    const { message } = await idsOfAnn();
    const reference = JSON.stringify({ type: "item_reference", id: message });
    expect(await sent("ann-key", reference)).toBe(reference.replace(message, RAW.message));
    expect(await sent("bob-key", reference)).toMatch(/^404 .*no such item: \\"msg_/);
    expect(await sent("ann-key", reference, '"model":"other"')).toMatch(
      /^400 .*the item is stored at another provider/,
    );
    const untyped = JSON.stringify({ id: message });
    expect(await sent("ann-key", untyped)).toBe(`{"id":"${RAW.message}"}`);
  });

  it.each([
    ["a reference", { type: "item_reference", id: RAW.message }],
    ["a reference without a type", { id: RAW.message }],
    ["a reference with null as its type", { type: null, id: RAW.message }],
    ["a copied message", { type: "message", role: "user", id: RAW.message, content: "Hi" }],
    ["reasoning", { type: "reasoning", id: RAW.reasoning, summary: [] }],
    [
      "reasoning with empty contents",
      { type: "reasoning", id: RAW.reasoning, summary: [], encrypted_content: "" },
    ],
    [
      "reasoning with null as its contents",
      { type: "reasoning", id: RAW.reasoning, summary: [], encrypted_content: null },
    ],
    ["the output of a program", { type: "code_interpreter_call", id: RAW.run, code: "" }],
    ["a picture", { type: "image_generation_call", id: RAW.run, status: "completed" }],
    ["an approval", { type: "mcp_approval_response", approval_request_id: RAW.run, approve: true }],
  ])("is not read by the provider's own id in %s", async (_, item) => {
    for (const key of ["ann-key", "bob-key"])
      for (const written of [
        JSON.stringify(item),
        JSON.stringify(item).replace('id":', '\\u0069d":').replace("_RAW", "\\u005fRAW"),
      ])
        expect(await sent(key, written)).not.toMatch(/^\{.*_RAW/);
  });

  it.each([
    `{"type":"reasoning","type":"item_reference","id":"${RAW.message}"}`,
    `{"type":"item_reference","id":"msg_1","id":"${RAW.message}"}`,
    `{"type":"reasoning","id":"${RAW.reasoning}","encrypted_content":"a","encrypted_content":null}`,
  ])("is not read by repeated members: %s", async (item) => {
    expect(await sent("bob-key", item)).not.toMatch(/^\{.*_RAW/);
  });

  it("keeps the id with which its contents are encrypted", async () => {
    const item = { type: "reasoning", id: RAW.reasoning, summary: [], encrypted_content: "gAAA" };
    expect(await sent("bob-key", JSON.stringify(item))).toBe(JSON.stringify(item));
  });

  it("of a conversation is not sent: conversations are refused", async () => {
    const item = '{"role":"user","content":"Hi"}';
    for (const conversation of ['"conv_1"', '{"id":"conv_1"}'])
      expect(await sent("ann-key", item, `"model":"gpt","conversation":${conversation}`)).toMatch(
        /^400 .*conversations are stored for all callers.*"param":"conversation"/,
      );
    const none = await sent("ann-key", item, '"model":"gpt","conversation":null');
    expect(none).toBe(item);
  });
});
