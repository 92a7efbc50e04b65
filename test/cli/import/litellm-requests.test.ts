import OpenAI from "openai";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { gwc } from "../../harness/gwc.ts";
import { startScripted } from "../../harness/scripted.ts";
import { Workspace } from "../../harness/workspace.ts";
import { fail, startHealthy } from "../../llm/llm-upstream.ts";

const messages = [{ role: "user", content: "Hi" } as const];

it("a model that fails is replaced by its fallback within the request", async () => {
  const [broken, healthy] = await Promise.all([
    startScripted((response) => fail(response, 500)),
    startHealthy(),
  ]);
  const workspace = new Workspace({
    "config.yaml": `model_list:
  - {model_name: first, litellm_params: {model: openai/gpt-5, api_key: os.environ/KEY, api_base: "http://${broken.host}/v1"}}
  - {model_name: second, litellm_params: {model: hosted_vllm/llama, api_base: "http://${healthy.host}/v1"}}
litellm_settings:
  fallbacks: [{first: [second]}]
  cache: true
  cache_params: {type: local, ttl: 60}
router_settings: {model_group_alias: {other: first}}
general_settings: {master_key: os.environ/MASTER, allowed_ips: ["127.0.0.0/8"]}
`,
  });
  const { stdout } = await gwc(["import", "config.yaml"], { cwd: workspace.folder });
  const { llm } = parse(stdout);
  const env = { KEY: "k", MASTER: "sk-master" };
  const gateway = await startGateway({ config: { llm: { ...llm, port: await freePort() } }, env });
  const client = (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const openai = client("sk-master");
  const completion = await openai.chat.completions.create({ model: "first", messages });
  expect(completion.choices[0]?.message.content).toBe("Hi.");
  expect(broken.received).toHaveLength(1);
  expect(healthy.received.map(({ url }) => url)).toEqual(["/v1/chat/completions"]);
  // The same request is answered from the cache.
  await openai.chat.completions.create({ model: "first", messages });
  expect(healthy.received).toHaveLength(1);
  const listed: string[] = [];
  for await (const { id } of openai.models.list()) listed.push(id);
  expect(listed.toSorted()).toEqual(["first", "other", "second"]);
  const denied = client("sk-other").chat.completions.create({ model: "first", messages });
  await expect(denied).rejects.toMatchObject({ status: 401 });
});

it("callers from other addresses than allowed_ips are refused", async () => {
  const healthy = await startHealthy();
  const workspace = new Workspace({
    "config.yaml": `model_list:
  - {model_name: a, litellm_params: {model: hosted_vllm/llama, api_base: "http://${healthy.host}/v1"}}
general_settings: {allowed_ips: ["192.0.2.1"]}
`,
  });
  const { stdout } = await gwc(["import", "config.yaml"], { cwd: workspace.folder });
  const { llm } = parse(stdout);
  const gateway = await startGateway({ config: { llm: { ...llm, port: await freePort() } } });
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const call = openai.chat.completions.create({ model: "a", messages });
  await expect(call).rejects.toMatchObject({ status: 403 });
  expect(healthy.received).toEqual([]);
});
