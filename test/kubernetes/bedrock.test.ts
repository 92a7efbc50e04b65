import OpenAI from "openai";
import { expect, it } from "vitest";
import { expectedSignature } from "../harness/aws-signature.ts";
import { converseResponse } from "../harness/bedrock.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { modelsRoute } from "./models-route.ts";

function manifests(port: number, host: string): string {
  const [name, serverPort] = host.split(":");
  return `${modelsRoute(port)}apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec:
  ai:
    provider:
      llmProvider6: {region: eu-west-1, guardrail: {identifier: g, version: "1"}}
      host: ${name}
      port: ${serverPort}
  policies:
    auth: {aws: {secretRef: {name: keys}}}
    ai: {promptCaching: {minTokens: 0}}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {accessKey: hidden, secretKey: hidden, sessionToken: hidden}
`;
}

it("a Secret's keys sign requests to Bedrock, with the guardrail and the caching of manifests", async () => {
  const bedrock = await startScripted((response) =>
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(converseResponse([{ text: "Hi" }], "end_turn")),
  );
  const secrets = temporaryFolder({
    "keys/accessKey": "AKIATEST\n",
    "keys/secretKey": "secret\n",
    "keys/sessionToken": "session\n",
  });
  const { url } = await startGateway({
    config: manifests(await freePort(), bedrock.host),
    env: { GWC_SECRETS_DIR: secrets },
  });
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0 });
  await client.chat.completions.create({
    model: "amazon.nova-pro-v1:0",
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hello" },
    ],
  });
  const [request] = bedrock.received;
  if (request === undefined) throw new Error("nothing was received");
  const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret", sessionToken: "session" };
  expect(request.headers.authorization).toBe(
    await expectedSignature(request, keys, { region: "eu-west-1", service: "bedrock" }),
  );
  expect(JSON.parse(request.body.toString("utf8"))).toMatchObject({
    system: [{ text: "Be kind." }, { cachePoint: { type: "default" } }],
    guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1" },
  });
});
