import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";
import { diffOf, firstLine } from "./diff-of.ts";

const gatewayApi = "apiVersion: gateway.networking.k8s.io/v1";

function manifests(paths: readonly string[], key: string): string {
  const gateways = paths.map((path, at) => {
    const match = `matches: [{path: {value: ${path}}}]`;
    const backend = "backendRefs: [{name: b, kind: GatewayBackend, group: gwc.dev}]";
    return `---
${gatewayApi}
kind: Gateway
metadata: {name: g${at}}
spec: {gatewayClassName: gwc, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
${gatewayApi}
kind: HTTPRoute
metadata: {name: r${at}}
spec: {parentRefs: [{name: g${at}}], rules: [{${match}${path === "/none" ? "" : `, ${backend}`}}]}
`;
  });
  return `${gatewayApi}
kind: GatewayClass
metadata: {name: gwc}
spec: {controllerName: gwc.dev/gateway}
${gateways.join("")}---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: b}
spec: {static: {host: b.test, port: 80}, policies: {auth: {key: ${key}}}}
`;
}

it("of several Gateways what opens access comes first, each difference names its own, and no credential is shown", () => {
  const { folder } = new Workspace({
    "old.yaml": manifests(["/a", "/b"], "hush-one"),
    "new.yaml": manifests(["/none", "/c"], "hush-two"),
  });
  const { code, stdout } = installedGwc(["diff", "old.yaml", "new.yaml", "--exit-code"], {
    cwd: folder,
  });
  expect(code).toBe(5);
  const heads = stdout.split("\n").filter((line) => /^[A-Z]/.test(line));
  expect(heads.map((line) => line.split(" (")[0])).toEqual([
    "OPENS   Gateway g1: route default/r1",
    "CLOSES  Gateway g0: route default/r0",
    "CLOSES  Gateway g1: route default/r1",
    "CHANGES Gateway g0: route default/r0",
    expect.stringMatching(/^CHANGES Gateway g0: to start +no longer needs the variable GWC_\w+$/),
    expect.stringMatching(/^CHANGES to start +GWC_\w+_AUTH_KEY has another value$/),
  ]);
  expect(stdout).toContain("(:80 /none)   404 -> refused: 500, no backend");
  expect(stdout).not.toContain("hush");
});

it("whose word for clients' addresses is taken, and of whom connections are, opens or closes a port", () => {
  const listeners = `binds: [{port: 80, listeners: [{routes: [{backends: [{host: "a.test:80"}]}]}]}]\n`;
  const proxied = (settings: string) =>
    `${listeners}frontendPolicies: {proxyProtocol: ${settings}}\n`;
  const verdict = (from: string, to: string) =>
    firstLine(diffOf(from, to)).replace(/^1 difference: /, "");
  const one = proxied("{trustedSources: [10.0.0.1]}");
  const said = "port 80, trusted PROXY protocol source";
  expect(verdict(listeners, one)).toBe(`1 OPENS: ${said} 10.0.0.1 added`);
  expect(verdict(one, listeners)).toBe(`1 CLOSES: ${said} 10.0.0.1 removed`);
  expect(verdict(one, proxied("{}"))).toBe(`1 OPENS: ${said} 10.0.0.1 widened to every address`);
  expect(verdict(one, proxied("{trustedSources: [10.0.0.1], mode: optional}"))).toBe(
    "1 OPENS: port 80, connections without a PROXY header are accepted",
  );
});

it("a private address that a proxy's clients can reach, and a guard that lets pass where it fails, open", () => {
  const proxy = (addresses: string) =>
    `binds: [{port: 80, listeners: [{routes: [{policies: {authorization: {rules: ["true"]}}, backends: [{dynamic: {allowPrivate: [${addresses}]}}]}]}]}]\n`;
  expect(firstLine(diffOf(proxy("127.0.0.1"), proxy("10.0.0.0/8, 127.0.0.1")))).toBe(
    "1 difference: 1 OPENS: route root (:80 /), backend: reachable private address 10.0.0.0/8 added",
  );
});

it("what guards look for, in which texts, what they do with it and whom they ask is said by its effect", () => {
  const guarded = (guards: string, backend = "{provider: {openAI: {}}}") => `binds:
  - port: 80
    listeners:
      - routes:
          - policies: {ai: {promptGuard: {${guards}}}}
            backends: [{ai: ${backend}}]
`;
  const verdict = (from: string, to: string) =>
    firstLine(diffOf(from, to))
      .replace(/^\d differences?: /, "")
      .replace("route root (:80 /), ", "");
  const regex = (action: string, rules: string, scope = "") =>
    guarded(`request: [{regex: {action: ${action}, rules: [${rules}]}${scope}}]`);
  const [ssn, email] = ["{builtin: ssn}", "{builtin: email}"];
  const both = regex("reject", `${ssn}, ${email}`);
  expect(verdict(both, regex("reject", email))).toBe("1 OPENS: requests: ssn: rejected -> passed");
  expect(verdict(regex("reject", email), both)).toBe("1 CLOSES: requests: ssn: passed -> rejected");
  expect(verdict(both, regex("mask", `${email}, ${ssn}`))).toBe(
    "1 OPENS, 1 CHANGES: requests: ssn, email: rejected -> masked; and 1 more",
  );
  expect(verdict(both, regex("reject", `${ssn}, ${email}`, ", scope: [messages]"))).toBe(
    "1 OPENS: requests: ssn, email: rejected -> rejected in messages",
  );
  const asked = (mode: string, port = 9) =>
    guarded(`request: [{webhook: {target: {host: "127.0.0.1:${port}"}, failureMode: ${mode}}}]`);
  const webhook = "requests: webhook of http://127.0.0.1:9";
  expect(verdict(asked("failClosed"), asked("failOpen"))).toBe(
    `1 OPENS: ${webhook}: called -> called, passed on failure`,
  );
  expect(verdict(asked("failClosed"), asked("failClosed", 8))).toBe(
    `1 OPENS, 1 CLOSES: ${webhook}: called -> not called; and 1 more`,
  );
});

it("a provider without the guards that the others have opens", () => {
  const guards = "policies: {ai: {promptGuard: {request: [{regex: {rules: [{builtin: ssn}]}}]}}}";
  const providers = (...names: readonly string[]) => `binds:
  - port: 80
    listeners:
      - routes:
          - backends: [{ai: {groups: [{providers: [${names.join(", ")}]}]}}]
`;
  const one = `{name: one, provider: {openAI: {}}, ${guards}}`;
  const found = diffOf(providers(one), providers(one, "{name: two, provider: {openAI: {}}}"));
  expect(found).toContain("OPENS   route root (:80 /)   two: requests: ssn: masked -> passed\n");
});
