import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { tryCommand } from "../../compiler/run/try-command.ts";

const keys =
  '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}';
const jwt = `jwtAuth: {issuer: i, audiences: [a], jwks: '${keys}'}`;
const backends = 'backends: [{host: "127.0.0.1:1"}]';
const mcp = "backends: [{mcp: {targets: [{name: t, stdio: {cmd: server}}]}}]";
const openAi = 'backends: [{ai: {provider: {openAI: {}}, policies: {backendAuth: {key: "${K}"}}}}]';
const chat = 'curl -i -H "content-type: application/json"';
const inspector =
  "npx -y @modelcontextprotocol/inspector --cli http://127.0.0.1:3000/mcp --transport http --method tools/list";

it.each([
  ["a plain route", `routes: [{${backends}}]`, "curl -i http://127.0.0.1:3000/"],
  [
    "a route of a host",
    `hostname: "*.example.com", routes: [{${backends}}]`,
    'curl -i -H "host: www.example.com" http://127.0.0.1:3000/',
  ],
  [
    "a route of a header, a query parameter and a method",
    `routes: [{matches: [{path: {exact: /x}, method: POST, headers: [{name: X-Team, value: {exact: "a b"}}], query: [{name: q, value: {exact: "1&2"}}]}], ${backends}}]`,
    'curl -i -X POST -H "x-team: a b" "http://127.0.0.1:3000/x?q=1%262"',
  ],
  [
    "the plainer of two routes",
    `routes: [{matches: [{path: {exact: /x}, method: POST}], ${backends}}, {matches: [{path: {exact: /y}}], ${backends}}]`,
    "curl -i http://127.0.0.1:3000/y",
  ],
  [
    "a token",
    `routes: [{policies: {${jwt}}, ${backends}}]`,
    'curl -i -H "authorization: Bearer $TOKEN" http://127.0.0.1:3000/',
  ],
  [
    "a key in the query, and shell characters in the configuration",
    `routes: [{matches: [{path: {exact: "/$(x)"}}], policies: {apiKey: {keys: [{key: "\${K}"}], location: {queryParameter: {name: k}}}}, ${backends}}]`,
    'curl -i "http://127.0.0.1:3000/\\$(x)?k=$API_KEY"',
  ],
  [
    "a login for a forward proxy, and a host that its rules allow",
    `routes: [{policies: {basicAuth: {htpasswd: "\${H}"}, authorization: {rules: ['request.host == "api.example.org"']}}, backends: [{dynamic: {}}]}]`,
    'curl -i -H "proxy-authorization: Basic $(printf %s USER:PASSWORD | base64)" -x http://127.0.0.1:3000 http://api.example.org/',
  ],
  ["MCP", `routes: [{${mcp}}]`, inspector],
  [
    "MCP with a token",
    `routes: [{policies: {${jwt}}, ${mcp}}]`,
    `${inspector} --header "authorization: Bearer $TOKEN"`,
  ],
  [
    "models by a path below that of the route",
    `routes: [{matches: [{path: {pathPrefix: /v1}}], policies: {ai: {routes: {/v1/messages: messages, /v1/models: models, /v1/chat/completions: completions}, modelAliases: {best: gpt-5}}}, ${openAi}}]`,
    `${chat} -d '{"model":"best","messages":[{"role":"user","content":"Hello"}]}' http://127.0.0.1:3000/v1/chat/completions`,
  ],
  [
    "models behind a prefix of the route's own, by messages alone",
    `routes: [{matches: [{path: {pathPrefix: /team}}], policies: {ai: {routes: {/v1/messages: messages}}}, ${openAi}}]`,
    `${chat} -H "anthropic-version: 2023-06-01" -d '{"model":"MODEL","max_tokens":256,"messages":[{"role":"user","content":"Hello"}]}' http://127.0.0.1:3000/team/v1/messages`,
  ],
  [
    "models under every path",
    `routes: [{matches: [{path: {pathPrefix: /v1}}], ${openAi}}]`,
    `${chat} -d '{"model":"MODEL","messages":[{"role":"user","content":"Hello"}]}' http://127.0.0.1:3000/v1/chat/completions`,
  ],
])("the command to try has what it needs: %s", (_, listener, command) => {
  const text = `binds: [{port: 3000, listeners: [{${listener}}]}]`;
  const { program, findings } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  expect(program, JSON.stringify(findings)).toBeDefined();
  expect(program && tryCommand(program)).toBe(command);
});

it("MCP at a host is tried by curl, with a first message", () => {
  const text = `binds: [{port: 3000, listeners: [{hostname: h.test, routes: [{${mcp}}]}]}]`;
  const { program } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  expect(program && tryCommand(program)).toMatch(
    /^curl -i -H "host: h\.test" .* -d '\{"jsonrpc".*"initialize".*\}' http:\/\/127\.0\.0\.1:3000\/mcp$/,
  );
});
