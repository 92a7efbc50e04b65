import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";

const mail = "ann@example.com";

interface Format {
  readonly provider: object;
  readonly path: string;
  /** Before and behind what a case says. */
  readonly begin: string;
  readonly end: string;
  /** Returns an event with these members next to its text. */
  readonly event: (members: object) => string;
}

const data = (object: object) => `data: ${JSON.stringify(object)}\n\n`;
const named = (object: { readonly type: string }) => `event: ${object.type}\n${data(object)}`;
const chunk = (choice: object, members: object = {}) =>
  data({
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, ...choice }],
    ...members,
  });
const response = { id: "r", object: "response", output: [] };

const formats = {
  completions: {
    provider: { openAI: {} },
    path: "/v1/chat/completions",
    begin: chunk({ delta: { role: "assistant", content: "Hi. " } }),
    end: `${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`,
    event: (members) => chunk({ delta: { content: ", " } }, members),
  },
  messages: {
    provider: { anthropic: {} },
    path: "/v1/messages",
    begin:
      named({
        type: "message_start",
        message: { id: "m", role: "assistant", content: [] },
      } as never) +
      named({
        type: "content_block_start",
        index: 0,
        content_block: { type: "text", text: "" },
      } as never),
    end:
      named({ type: "content_block_stop", index: 0 } as never) +
      named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} } as never) +
      named({ type: "message_stop" }),
    event: (members) =>
      named({
        ...{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ", " } },
        ...members,
      }),
  },
  responses: {
    provider: { openAI: {} },
    path: "/v1/responses",
    begin: named({ type: "response.created", response } as never),
    end: named({ type: "response.completed", response } as never),
    event: (members) =>
      named({
        ...{ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0 },
        ...{ delta: ", ", ...members },
      }),
  },
} as const satisfies Readonly<Record<string, Format>>;

type FormatName = keyof typeof formats;
const names = Object.keys(formats) as readonly FormatName[];

let gateway: Gateway;
/** The provider's next stream. */
let next = "";

beforeAll(async () => {
  const provider = await startScripted((answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" }).end(next);
  }, "anything");
  const regex = { rules: [{ builtin: "email" }] };
  const kinds = {
    mask: { regex },
    reject: { regex: { ...regex, action: "reject" }, response: { message: "No contacts." } },
  };
  gateway = await startGateway({
    listeners: [
      {
        routes: names.flatMap((name) =>
          Object.entries(kinds).map(([action, guard]) => ({
            name: `${name}-${action}`,
            matches: [{ path: { pathPrefix: `/${action}/${name}` } }],
            policies: { ai: { routes: everyFormat, promptGuard: { response: [guard] } } },
            backends: [{ ai: { provider: formats[name].provider, hostOverride: provider.host } }],
          })),
        ),
      },
    ],
  });
});

async function streamed(
  name: FormatName,
  action: "mask" | "reject",
  said: string,
): Promise<string> {
  const { path, begin, end } = formats[name];
  next = begin + said + end;
  const messages = [{ role: "user", content: "Hello" }];
  const answer = await fetch(`${gateway.url}/${action}/${name}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: "m", stream: true },
      ...(name === "responses" ? { input: messages } : { max_tokens: 9, messages }),
    }),
  });
  return answer.text();
}

describe.each(names)("in a stream of %s a match", (name) => {
  const { event } = formats[name];
  const plain = event({});

  it.each<[string, string]>([
    ["in a comment", `: ${mail}\n\n${plain}`],
    ["in a comment before data", `: ${mail}\n${plain}`],
    ["in an id", `id: ${mail}\n${plain}`],
    ["in an event's name", plain.replace(/^(?:event: .*\n)?/, `event: ${mail}\n`)],
    ["in a second name of an event", `event: ${mail}\n${plain}`],
    ["in the time to wait", `retry: ${mail}\n${plain}`],
    ["in a line that nobody knows", `${plain.slice(0, -1)}note: ${mail}\n\n`],
    ["in a line without a field", `${plain.slice(0, -1)}${mail}\n\n`],
    ["behind a carriage return", `${plain.slice(0, -1)}\r:${mail}\r\n\r\n`],
    ["in an event without data", `event: ${mail}\nid: ${mail}\n\n`],
    ["under a duplicate key", plain.replace("{", `{"note":"${mail}","note":"a",`)],
    ["under a duplicate key in escapes", plain.replace("{", `{"note":"${mail}","n\\u006fte":"a",`)],
    ["in the filling", event({ obfuscation: "xyz" }) + event({ obfuscation: mail })],
    ["in a name of a member", event({ [mail]: 1 })],
    ["in a word of the format", event({ note: { type: mail, status: mail, object: mail } })],
  ])("%s reaches no client", async (_, said) => {
    expect(await streamed(name, "mask", said)).not.toContain(mail);
    expect(await streamed(name, "reject", said)).not.toContain(mail);
  });

  it("of a member that the API does not know, over two events, is found", async () => {
    const said = event({ note: "Mail ann@exam" }) + event({ other: "a", note: "ple.com!" });
    expect(await streamed(name, "mask", said)).not.toContain("ple.com");
    const rejected = await streamed(name, "reject", said);
    expect(rejected).toContain("No contacts.");
    expect(rejected).not.toContain("ple.com");
  });

  it("leaves events that say nothing else as they are", async () => {
    expect(await streamed(name, "mask", plain)).toBe(next);
  });
});

describe("in a stream of completions a match", () => {
  const call = (members: object) =>
    chunk({ delta: { tool_calls: [{ index: 0, function: members }] } });

  it.each<[string, string]>([
    ["in a role", chunk({ delta: { role: mail } })],
    [
      "in a role over two events",
      chunk({ delta: { role: "ann@exam" } }) + chunk({ delta: { role: "ple.com" } }),
    ],
    ["in the reason for the end", chunk({ delta: {}, finish_reason: mail })],
    ["in the type of a tool", chunk({ delta: { tool_calls: [{ index: 0, type: mail }] } })],
    [
      "in the name of a function over two events",
      call({ name: "ann@exam" }) + call({ name: "ple.com" }),
    ],
    [
      "in the name of a function as it was called before",
      chunk({ delta: { function_call: { name: "ann@exam" } } }) +
        chunk({ delta: { function_call: { name: "ple.com" } } }),
    ],
    ["next to the arguments", call({ arguments: "{}", note: mail })],
    ["next to the function", chunk({ delta: { tool_calls: [{ index: 0, note: mail }] } })],
  ])("%s reaches no client", async (_, said) => {
    for (const action of ["mask", "reject"] as const) {
      const given = await streamed("completions", action, said);
      expect(given).not.toContain(mail);
      expect(given).not.toContain("ple.com");
    }
  });
});
