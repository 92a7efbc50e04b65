import { describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";

describe("settings that can't apply before routing are refused", () => {
  function findings(listener: object): readonly string[] {
    const file = { binds: [{ port: 8080, listeners: [listener] }] };
    const host = memoryHost({ "gateway.yaml": JSON.stringify(file) });
    return checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false }).diagnostics.map(
      ({ code }) => code,
    );
  }

  it("policies of a backend's call", () => {
    expect(findings({ policies: { retry: { attempts: 1 } } })).toEqual(["unknown-field"]);
    expect(findings({ policies: { urlRewrite: {} } })).toEqual(["unknown-field"]);
    expect(findings({ policies: { mcpAuthorization: { rules: ["true"] } } })).toEqual([
      "unknown-field",
    ]);
  });

  it("policies of requests, on a listener that forwards connections", () => {
    const tcpRoutes = [{ backends: [{ host: "127.0.0.1:1" }] }];
    const policies = { csrf: {} };
    expect(findings({ protocol: "TCP", tcpRoutes, policies })).toEqual(["misplaced-field"]);
  });

  it("rules without the identity that they read, and unreachable routes", () => {
    const rules = { authorization: { rules: ['jwt.sub == "a"'] } };
    expect(findings({ policies: rules })).toEqual(["absent-identity"]);
    const routes = [{ policies: { directResponse: { status: 200 } } }];
    const closed = { directResponse: { status: 503 } };
    expect(findings({ policies: closed, routes })).toEqual(["never-reached"]);
  });
});
