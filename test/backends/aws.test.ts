import { expect, it } from "vitest";
import { expectedSignature } from "../harness/aws-signature.ts";
import { compileFile } from "../harness/compile-file.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const arn = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-4rLvS1BRqq";
const path = `/runtimes/${encodeURIComponent(arn)}/invocations`;
const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret/of+the=key" };

it("every request invokes the agent, with a signature that AWS's own library makes too", async () => {
  const agent = await startScripted((response) => response.end("done"));
  const agentCore = { agentRuntimeArn: arn, host: agent.host };
  const user = { "X-Amzn-Bedrock-AgentCore-Runtime-User-Id": "user-foo" };
  const gateway = await startGateway({
    env: { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey },
    listeners: [
      {
        routes: [
          {
            matches: [{ path: { pathPrefix: "/agent" } }],
            policies: { retry: { attempts: 1, codes: [503] } },
            backends: [{ aws: { agentCore }, policies: { requestHeaderModifier: { set: user } } }],
          },
          {
            matches: [{ path: { pathPrefix: "/tested" } }],
            backends: [{ aws: { agentCore: { ...agentCore, qualifier: "canary" } } }],
          },
        ],
      },
    ],
  });
  const headers = { "x-amzn-bedrock-agentcore-runtime-user-id": "somebody" };
  const body = '{"prompt":"Hello"}';
  expect(await send(`${gateway.url}/agent/any?q=1`, "POST", headers, body)).toMatchObject({
    status: 200,
    body: "done",
  });
  await send(`${gateway.url}/tested`, "POST", {}, body);
  const [first, second] = agent.received;
  if (first === undefined || second === undefined) throw new Error("the agent was not asked");
  expect(first.url).toBe(path);
  expect(first.headers["x-amzn-bedrock-agentcore-runtime-user-id"]).toBe("user-foo");
  expect(second.url).toBe(`${path}?qualifier=canary`);
  const scope = { region: "us-west-2", service: "bedrock-agentcore" };
  for (const request of [first, second]) {
    expect(request.body.toString()).toBe(body);
    expect(request.headers.authorization).toBe(await expectedSignature(request, keys, scope));
  }
});

it.each([
  ["us-west-2", "aws", "https://bedrock-agentcore.us-west-2.amazonaws.com"],
  ["cn-north-1", "aws-cn", "https://bedrock-agentcore.cn-north-1.amazonaws.com.cn"],
])("an agent in %s is asked where its ARN says", async (region, partition, url) => {
  const agentRuntimeArn = `arn:${partition}:bedrock-agentcore:${region}:123456789012:runtime/a-1`;
  const file = { backends: [{ name: "agent", aws: { agentCore: { agentRuntimeArn } } }] };
  const routes = [{ name: "agent", backends: [{ backend: "agent" }] }];
  const folder = temporaryFolder({
    "gateway.yaml": JSON.stringify({ ...file, binds: [{ port: 3000, listeners: [{ routes }] }] }),
  });
  const { modules } = await compileFile(`${folder}/gateway.yaml`, { name: "agents" });
  const route = modules.find((each) => each.path === "routes/agent.ts");
  expect(route?.text).toContain(`url: "${url}"`);
});
