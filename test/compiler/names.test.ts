import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";

/** Names that generated modules declare, and names that they import. */
const names = [
  "path",
  "hostname",
  "exchange",
  "jwt",
  "cors",
  "jwtAuth",
  "mcpAuthentication",
  "oauth",
  "allowedOrigins",
  "backend",
  "authorize",
  "authorizeCall",
  "denied",
  "deniedCall",
  "verdict",
  "dispatch",
  "notFound",
  "serveMcp",
  "gateway",
  "startGateway",
  "default",
  "web",
  "webRoutes",
  "holds",
  "query-value",
  "misdirected",
  "pattern",
  "matchesWhole",
  "names",
  "webPolicies",
  "routeWeb",
  "findToken",
  "response1",
  "isLogged",
  "log-fields",
  "logVariables",
];

/** A match that takes much of the generated code's own vocabulary. */
const match = (name: string) => `
              - path: { regex: "/${name}/[a-z]+/x|/b" }
                method: GET
                headers: [{ name: x-a, value: { regex: "[0-9]+" } }]
                query: [{ name: a, value: { exact: b } }]`;

// The type check of so many modules is slow on a busy machine.
it("a route may have the name of anything in the generated code", {
  timeout: 300_000,
}, async () => {
  const route = (name: string) => `
          - name: ${name}
            hostnames: [${name.toLowerCase()}.example.com]
            matches:
              - path: { exact: /${name} }${match(name)}
            policies:
              cors: { allowOrigins: ["https://app.example"] }
              mcpAuthentication:
                issuer: "https://issuer.example"
                authorizationLocation: { expression: request.path }
              directResponse: { conditional: [{ condition: request.path == "/x", status: 404 }] }
              authorization: { rules: ['jwt.sub == "alice"'] }
              mcpAuthorization: { rules: ['mcp.tool.name == "echo"'] }
            backends: [{ mcp: { targets: [{ name: one, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }]`;
  const text = `
config:
  logging:
    filter: response.code > 100
    fields: { add: { user: jwt.sub, both: '{"a": [request.path].map(record, record + "x")}' } }
binds:
  - port: 3000
    listeners:
      - name: web
        hostname: "*.example.com"
        policies:
          jwtAuth:
            issuer: a
            jwks: { url: "https://issuer.example/keys" }
            location: { expression: request.path }
        routes:${names.map(route).join("")}
      - { name: web-routes, hostname: web.example.com }
      - { name: on-port-3000, hostname: port.example.com }
      - { name: listener-on-port-3000, hostname: listener.example.com }
`;
  const host = memoryHost({ "gateway.yaml": text });
  const { findings } = await compileFile("gateway.yaml", {
    name: "test",
    host,
    isTypeChecked: true,
  });
  expect(findings).toEqual([]);
});
