import { expect, test } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../support/build.ts";

/** What generated modules call things themselves, and what they import. */
const names = [
  "path",
  "hostname",
  "exchange",
  "jwt",
  "cors",
  "jwtAuth",
  "mcpAuthentication",
  "oauth",
  "pages",
  "backend",
  "isAuthorized",
  "mayUse",
  "enter",
  "notFound",
  "serveMcp",
  "gateway",
  "startGateway",
  "default",
];

test("a route may have the name of anything in the generated code", async () => {
  const route = (name: string) => `
          - name: ${name}
            hostnames: [${name.toLowerCase()}.example.com]
            matches: [{ path: { exact: /${name} } }]
            policies:
              cors: { allowOrigins: ["https://app.example"] }
              mcpAuthentication: { issuer: "https://issuer.example" }
              authorization: { rules: ['jwt.sub == "alice"'] }
              mcpAuthorization: { rules: ['mcp.tool.name == "echo"'] }
            backends: [{ mcp: { targets: [{ name: one, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }]`;
  const text = `binds:
  - port: 3000
    listeners:
      - routes:${names.map(route).join("")}
`;
  const host = memoryHost({ "gateway.yaml": text });
  const { findings } = await compileFile("gateway.yaml", {
    name: "test",
    host,
    isTypeChecked: true,
  });
  expect(findings).toEqual([]);
});
