import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { findings } from "../policies/refused.ts";
import { servingTools } from "./many-tools.ts";
import { messagesOf, openSession, post, type RawResponse, toolCall } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";

let server: RawUpstream;
let gateway: Gateway;

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const renamed =
  'string(request.body).replace("\\"old\\"", "\\"" + request.headers["x-tool"] + "\\"")';

beforeAll(async () => {
  server = await startUpstream(servingTools("one", [tool("new"), tool("secret")]));
  const targets = [{ name: "one", mcp: { host: server.url } }];
  const route = (name: string, policies: object) => ({
    name,
    matches: [{ path: { exact: `/${name}` } }],
    policies,
    backends: [{ mcp: { targets } }],
  });
  const request = { body: renamed };
  const rules = [{ deny: 'mcp.tool.name == "secret"' }, { allow: "true" }];
  const response = {
    set: { ":status": "response.code == 200 ? 203 : response.code" },
    body: 'string(response.body).replace("one", "changed")',
  };
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("request", { transformations: { request }, mcpAuthorization: { rules } }),
          route("response", { transformations: { response } }),
        ],
      },
    ],
  });
});

/** Returns what the tool said that it received. */
function textOf(response: RawResponse): unknown {
  const [message] = messagesOf(response);
  expect(message).toMatchObject({ result: { content: [{ text: expect.any(String) }] } });
  return JSON.parse(JSON.parse(JSON.stringify(message)).result.content[0].text);
}

const at = (path: string) => `${gateway.url}/${path}`;

describe("transformations of an MCP route", () => {
  it("replace the message, which the server gets and the rules judge", async () => {
    const headers = { "x-tool": "new" };
    const session = await openSession(at("request"), headers);
    const call = await post(at("request"), toolCall("old"), session);
    expect(textOf(call)).toMatchObject({ server: "one", name: "new" });
    const before = server.seen.length;
    const hidden = await post(at("request"), toolCall("old"), { ...session, "x-tool": "secret" });
    expect(messagesOf(hidden)).toMatchObject([{ error: { message: "Unknown tool: secret" } }]);
    expect(server.seen).toHaveLength(before);
  });

  it("replace the body of a response and its status", async () => {
    const session = await openSession(at("response"));
    const call = await post(at("response"), toolCall("new"), session);
    expect(call.status).toBe(203);
    expect(textOf(call)).toMatchObject({ server: "changed", name: "new" });
  });

  it("cannot change the request line, because the gateway calls the servers", () => {
    const backends = [{ mcp: { targets: [{ name: "one", mcp: { host: "http://h.example/" } }] } }];
    const request = { set: { ":path": '"/"' } };
    expect(findings({ policies: { transformations: { request } }, backends })).toEqual([
      "needs-host-backend",
    ]);
  });
});
