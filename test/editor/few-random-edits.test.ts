import { it } from "vitest";
import { compareWhileEditing } from "./random-edits.ts";

const CONFIG = `gateways:
  default: { port: 3000 }
routes:
  - name: tools
    policies:
      jwtAuth: { issuer: https://issuer.example.com, audiences: [a], jwks: { file: ./keys.json } }
      mcpAuthorization:
        rules:
          - mcp.tool.name == "echo" && jwt.sub == "a"
    backends:
      - mcp: { targets: [{ name: everything, mcp: { host: "http://127.0.0.1:9/mcp" } }] }
`;
const TESTS = `servers: { everything: { tools: [echo, add] } }
tests:
  - { name: echo is allowed, route: tools, tool: echo, as: { jwt: { sub: a } }, expect: { status: 200 } }
`;

it("after random edits of a file, its tests and its keys, the server shows what new checks report", async () => {
  const inputs = { "gateway.yaml": CONFIG, "access.test.yaml": TESTS, "keys.json": '{"keys":[]}' };
  await compareWhileEditing(inputs, "gateway.yaml", 4, 30);
});
