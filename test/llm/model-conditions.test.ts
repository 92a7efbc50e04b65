import { once } from "node:events";
import http from "node:http";
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

const messages = [{ role: "user" as const, content: "Hello" }];
let gateway: Gateway;

beforeAll(async () => {
  const { host } = await startProvider([{ prompt: "Hello", response: { content: "Hi." } }]);
  const params = (model: string) => ({ apiKey: "${KEY}", hostOverride: host, model });
  const team = (value: Readonly<Record<string, string>>) => [
    { headers: [{ name: "X-Team", value }] },
  ];
  const rules = (team: string) => ({ rules: [`apiKey.team == "${team}"`] });
  gateway = await startGateway({
    env: { KEY: "provider-key", RED: "red-key", BLUE: "blue-key", GREEN: "green-key" },
    config: {
      llm: {
        port: await freePort(),
        policies: {
          apiKey: {
            mode: "optional",
            keys: ["red", "blue", "green"].map((each) => ({
              key: `\${${each.toUpperCase()}}`,
              metadata: { team: each },
            })),
          },
        },
        models: [
          {
            name: "fast",
            provider: "openai",
            params: params("one"),
            matches: team({ exact: "a" }),
          },
          {
            name: "fast",
            provider: "openai",
            params: params("two"),
            matches: team({ regex: "b|c" }),
          },
          { name: "ours", provider: "openai", params: params("red"), authorization: rules("red") },
          {
            name: "ours",
            provider: "openai",
            params: params("blue"),
            authorization: rules("blue"),
          },
          {
            name: "secret",
            provider: "openai",
            params: params("secret"),
            authorization: { rules: [{ deny: '"x-guest" in request.headers' }] },
          },
          { name: "*", provider: "openai", params: params("rest") },
        ],
        virtualModels: [
          { name: "mixed", routing: { weighted: { targets: [{ model: "ours" }] } } },
          {
            name: "chosen",
            routing: { conditional: { targets: [{ model: "secret", when: "true" }] } },
          },
        ],
      },
    },
  });
});

function client(apiKey: string, headers: Readonly<Record<string, string>> = {}): OpenAI {
  return new OpenAI({
    ...{ apiKey: apiKey || "none", baseURL: `${gateway.url}/v1`, maxRetries: 0 },
    defaultHeaders: { ...headers, ...(apiKey === "" && { authorization: null }) },
  });
}

async function served(model: string, openai: OpenAI): Promise<string> {
  return (await openai.chat.completions.create({ model, messages })).model;
}

it.each([
  ["a", "one"],
  ["b", "two"],
  ["c", "two"],
  ["bc", "rest"],
])("a request with the header %s is served by the entry that matches: %s", async (team, model) => {
  expect(await served("fast", client("", { "x-team": team }))).toBe(model);
});

it("without a matching entry, a more general name serves the request", async () => {
  expect(await served("fast", client(""))).toBe("rest");
});

it("a repeated header that an entry matches is ambiguous", async () => {
  const request = http.request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: ["host", "localhost", "x-team", "a", "x-team", "z"],
  });
  request.end(JSON.stringify({ model: "fast", messages }));
  const [response] = await once(request, "response");
  expect(response.statusCode).toBe(400);
});

it("the first entry whose rules allow the caller serves the request", async () => {
  expect(await served("ours", client("red-key"))).toBe("red");
  expect(await served("ours", client("blue-key"))).toBe("blue");
});

it("a model that no rule opens is refused, and no more general name serves it", async () => {
  await expect(served("ours", client("green-key"))).rejects.toMatchObject({ status: 403 });
  await gateway.seen(
    /rule="gateway.yaml llm.models\[2\].authorization: no rule allows it".* reason=Authorization/,
  );
  await expect(served("ours", client(""))).rejects.toMatchObject({ status: 403 });
});

it("rules also hold behind virtual models", async () => {
  expect(await served("mixed", client("blue-key"))).toBe("blue");
  await expect(served("mixed", client("green-key"))).rejects.toMatchObject({ status: 403 });
  expect(await served("chosen", client(""))).toBe("secret");
  await expect(served("chosen", client("", { "x-guest": "yes" }))).rejects.toMatchObject({
    status: 403,
  });
});

it("the list of models contains those that the caller may use", async () => {
  const ids = async (openai: OpenAI): Promise<readonly string[]> =>
    (await openai.models.list()).data.map(({ id }) => id);
  expect(await ids(client("red-key"))).toEqual(["fast", "ours", "secret", "mixed", "chosen"]);
  expect(await ids(client("", { "x-guest": "yes" }))).toEqual(["fast"]);
});
