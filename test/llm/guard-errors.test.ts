import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startGuardWebhook } from "../harness/guard-webhook.ts";
import { patient } from "../harness/patient-callout.ts";
import { startScripted } from "../harness/scripted.ts";
import { chunk, startStream } from "./llm-upstream.ts";

const complaint = "The quota of secret42 is used up.";
const text = "All is well. ";
const count = 20;

/** A provider's failed streams, by path. */
const streams = {
  "/v1/chat/completions": {
    content: chunk({ content: text }).repeat(count),
    error: `data: ${JSON.stringify({ error: { message: complaint, type: "server_error" } })}\n\n`,
  },
  "/v1/responses": {
    content: Array.from({ length: count }, (_, index) =>
      event({
        ...{ type: "response.output_text.delta", sequence_number: index },
        ...{ item_id: "msg_1", output_index: 0, content_index: 0, delta: text },
      }),
    ).join(""),
    error: event({
      type: "error",
      sequence_number: count,
      code: "server_error",
      message: complaint,
    }),
  },
};

function event(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The results of guards for the error. */
const guards = {
  "patterns-mask": "The quota of <masked> is used up.",
  "patterns-reject": "Not here, please.",
  "webhook-mask": "The quota of [hidden] is used up.",
  "webhook-reject": "The webhook says no.",
  "webhook-down": "a guard of the gateway is unavailable",
} as const;

const requests = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hello" }] },
  "/v1/messages": { max_tokens: 9, messages: [{ role: "user", content: "Hello" }] },
  "/v1/responses": { input: "Hello" },
};

let gateway: Gateway;
/** Lets the stream fail that has begun. */
let fail = (): void => {};

beforeAll(async () => {
  const webhook = await startGuardWebhook();
  const provider = await startScripted((response, _, { url, headers }) => {
    const said = url === "/v1/responses" ? streams[url] : streams["/v1/chat/completions"];
    startStream(response);
    if (headers["x-early"] !== undefined) response.end(said.error);
    else {
      response.write(said.content);
      fail = () => response.end(said.error);
    }
  });
  const regex = { rules: [{ pattern: "secret[0-9]{1,9}" }] };
  const rejection = { response: { message: guards["patterns-reject"], statusCode: 451 } };
  const hook = (host: string) => ({ webhook: { target: { host, policies: patient } } });
  const steps: Readonly<Record<keyof typeof guards, object>> = {
    "patterns-mask": { regex },
    "patterns-reject": { regex: { ...regex, action: "reject" }, ...rejection },
    "webhook-mask": hook(`${webhook.url}/mask`),
    "webhook-reject": hook(`${webhook.url}/reject`),
    "webhook-down": hook(`http://127.0.0.1:${await freePort()}`),
  };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: Object.entries(steps).map(([name, guard]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ai: {
              routes: everyFormat,
              promptGuard: {
                response: [guard],
                ...(name.startsWith("webhook") && { window: 64 }),
              },
            },
          },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: provider.host } }],
        })),
      },
    ],
  });
});

describe.each(Object.keys(requests) as (keyof typeof requests)[])("a stream at %s", (path) => {
  it.each(Object.entries(guards))(
    "that fails tells of it as guards let it (%s)",
    async (...row) => {
      const [name, expected] = row;
      const ask = (headers: Readonly<Record<string, string>>) => {
        const body = JSON.stringify({ model: "m", stream: true, ...requests[path] });
        return fetch(`${gateway.url}/${name}${path}`, { method: "POST", headers, body });
      };
      const early = await (await ask({ "x-early": "1" })).text();
      let late = "";
      for await (const piece of (await ask({})).body ?? []) {
        late += new TextDecoder().decode(piece);
        if (late.includes("All is well.")) fail();
      }
      expect(late).toContain(expected);
      expect(early).toContain(expected);
      expect(late + early).not.toContain("secret42");
      // The stream had begun, unless nobody could look at it.
      expect(late.includes("All is well.")).toBe(name !== "webhook-down");
    },
  );
});
