import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";
import { send } from "../harness/send.ts";
import { type Ask, asks } from "../llm/ask.ts";
import { nowhere, startRoutes } from "./routes.ts";

const falcon = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { code: { type: "string", default: "[project]" } },
  async prompt({ texts }, { code }, request) {
    if (texts.some(({ text }) => text.includes("refuse"))) return request.refuse(451, "not here");
    if (texts.some(({ text }) => text.includes("break"))) throw new Error("no such prompt");
    if (texts.some(({ text }) => text.includes("fewer"))) return [];
    return texts.map(({ text }) => text.replaceAll("Project Falcon", code));
  },
  completion({ texts }, { code }, request) {
    if (texts.some(({ text }) => text.includes("CONFIDENTIAL"))) return request.refuse(403, "not for you");
    return texts.map(({ text }) => text.replaceAll("Project Falcon", code));
  },
});
`;

/** Marks what it is shown, so that its place among others shows. */
const mark = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  prompt({ texts }) {
    return texts.map(({ role, text }) => \`\${text} (\${role})\`);
  },
});
`;

const replies = [
  { prompt: "secret", response: { content: "This is CONFIDENTIAL." } },
  {
    prompt: "long",
    response: { content: `${"word ".repeat(900)}Project Falcon${" word".repeat(900)}` },
  },
  { prompt: "", response: { content: "Tell me about Project Falcon and more." } },
];

let gateway: Gateway;
let provider: Awaited<ReturnType<typeof startProvider>>;

beforeAll(async () => {
  provider = await startProvider(replies);
  const ai = { routes: everyFormat };
  const models = (name: object) => [{ ai: { provider: name, hostOverride: provider.host } }];
  const use = "./policies/falcon.ts";
  gateway = await startRoutes(
    {
      openai: { policies: { ai, custom: [{ use }] }, backends: models({ openAI: {} }) },
      anthropic: { policies: { ai, custom: [{ use }] }, backends: models({ anthropic: {} }) },
      open: {
        policies: { ai, custom: [{ use, failureMode: "failOpen" }] },
        backends: models({ openAI: {} }),
      },
      order: {
        policies: {
          ai: { ...ai, promptGuard: { request: [{ regex: { rules: [{ builtin: "email" }] } }] } },
          custom: [{ use: "./policies/mark.ts" }, { use, with: { code: "X" } }],
        },
        backends: models({ openAI: {} }),
      },
    },
    nowhere,
    { "policies/falcon.ts": falcon, "policies/mark.ts": mark },
  );
});

const received = (): string => provider.received.at(-1)?.body.toString() ?? "";
const cases: [string, string, Ask][] = ["openai", "anthropic"].flatMap((name) =>
  Object.entries(asks).map(([way, ask]): [string, string, Ask] => [name, way, ask]),
);

describe.each(cases)("hooks for texts, provider %s, asked by %s", (name, _, ask) => {
  const base = () => `${gateway.url}/${name}`;

  it("change prompts and completions", async () => {
    const answer = await ask(base(), "What is Project Falcon?");
    expect(received()).toContain("What is [project]?");
    expect(received()).not.toContain("Falcon");
    expect(answer).toBe("Tell me about [project] and more.");
  });

  it("change a word far behind the begin of a completion", async () => {
    const answer = await ask(base(), "long");
    expect(answer).toBe(`${"word ".repeat(900)}[project]${" word".repeat(900)}`);
  });

  it("refuse prompts in the client's format, before the provider is called", async () => {
    const before = provider.received.length;
    await expect(ask(base(), "please refuse")).rejects.toMatchObject({ status: 451 });
    expect(provider.received).toHaveLength(before);
  });

  it("refuse completions", async () => {
    await expect(ask(base(), "secret")).rejects.toThrow(/not for you/);
  });
});

const post = (path: string, content: string) =>
  send(
    `${gateway.url}/${path}/v1/chat/completions`,
    "POST",
    { "content-type": "application/json" },
    JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
  );

describe("a hook for texts", () => {
  it.each(["break", "fewer"])("closes the request if it fails: %s", async (content) => {
    const { status, body } = await post("openai", content);
    expect([status, body]).toEqual([500, expect.stringContaining("internal error")]);
    await expect
      .poll(() => gateway.output)
      .toMatch(
        content === "break" ? /no such prompt \(policies\/falcon\.ts:7\)/ : /0 texts instead of 1/,
      );
  });

  it.each([
    ["please refuse", 451, ""],
    ["break", 500, '.*error="prompt: Error: no such prompt.*'],
    ["secret", 403, ""],
  ])("is named in the log with the reason Custom: %s", async (content, status, error) => {
    const before = gateway.output.length;
    expect((await post("openai", content)).status).toBe(status);
    await expect
      .poll(() => gateway.output.slice(before))
      .toMatch(new RegExp(`custom\\.policy=falcon${error}.*reason=Custom`));
  });

  it("passes the texts on failure if failureMode is failOpen", async () => {
    expect((await post("open", "break")).status).toBe(200);
    expect(received()).toContain("break");
  });

  it("reads what guards and earlier policies left", async () => {
    await post("order", "ann@example.com on Project Falcon");
    expect(received()).toContain("<EMAIL_ADDRESS> on X (user)");
  });
});
