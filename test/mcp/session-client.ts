import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** Connects a real client of the session era that answers servers' requests; `close` ends its session. */
export async function connectSession(
  url: string,
  capabilities: object = { sampling: {}, elicitation: { form: {} }, roots: {} },
  send: typeof fetch = fetch,
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const content = { type: "text", text: "sampled" } as const;
  if ("sampling" in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: "m",
      role: "assistant",
      content,
    }));
  }
  if ("elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      const asked = "requestedSchema" in params ? params.requestedSchema.properties : {};
      const fields = Object.keys(asked).map((name) => [name, name === "ok" ? true : `my ${name}`]);
      return { action: "accept", content: Object.fromEntries(fields) };
    });
  }
  if ("roots" in capabilities) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///r" }] }));
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: send });
  // The SDK's optional members are typed without undefined, which exactOptionalPropertyTypes rejects.
  await client.connect(transport as Transport);
  return client;
}
