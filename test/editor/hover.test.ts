import { expect, it } from "vitest";
import { Editor } from "../harness/editor.ts";
import { gwc } from "../harness/gwc.ts";

it("a field shows the page that gwc explain prints", async () => {
  const editor = await Editor.start();
  const text = "gateways:\n  default:\n    po|rt: 3000\n";
  const hover = await editor.hover("gateway.yaml", text);
  expect(hover).toContain("The TCP port.");
  expect(hover).toContain("- Limits: at least 1, at most 65535");
  const { stdout } = await gwc(["explain", "gateways.*.port"]);
  expect(stdout).toContain("The TCP port.");
});

it("a policy shows its page, with its place in request order", async () => {
  const editor = await Editor.start();
  const text = "routes:\n  - policies:\n      co|rs:\n        maxAge: 10m\n";
  const hover = await editor.hover("gateway.yaml", text);
  expect(hover).toContain("in request order");
  expect(hover).toContain("`maxAge`");
});

it("a field of a manifest shows the page of its kind", async () => {
  const gateway =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a}\nspec:\n";
  const editor = await Editor.start();
  const hover = await editor.hover("k8s.yaml", `${gateway}  lis|teners: []\n`);
  expect(hover).toContain("Ports, each with a protocol and a hostname.");
});

it("a diagnostic shows its explanation", async () => {
  const editor = await Editor.start();
  const hover = await editor.hover("gateway.yaml", "gateways:\n  default:\n    pro|t: 3000\n");
  expect(hover).toContain("error[unknown-field]");
});

it("text between fields shows nothing", async () => {
  const editor = await Editor.start();
  expect(
    await editor.hover("gateway.yaml", "# a com|ment\ngateways:\n  default:\n    port: 1\n"),
  ).toBe("");
});

it("a reference shows what it refers to", async () => {
  const editor = await Editor.start();
  const hover = await editor.hover(
    "gateway.yaml",
    `gateways:
  default: { port: 3000 }
backends:
  - name: shop
    host: "127.0.0.1:9000"
routes:
  - backends: [{ backend: sh|op }]
`,
  );
  expect(hover).toContain("**backend `shop`**, declared at gateway.yaml:4");
  expect(hover).toContain('name: shop\nhost: "127.0.0.1:9000"');
});

it("a reference to a Secret shows its keys, and not what they contain", async () => {
  const editor = await Editor.start({
    "k8s/secret.yaml":
      "apiVersion: v1\nkind: Secret\nmetadata: { name: keys }\ndata: { token: c2VjcmV0 }\n",
  });
  const hover = await editor.hover(
    "k8s/gateway.yaml",
    `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  listeners:
    - name: https
      port: 443
      protocol: HTTPS
      tls: { certificateRefs: [{ name: ke|ys }] }
`,
  );
  expect(hover).toContain("**Secret `default/keys`**, declared at secret.yaml:3");
  expect(hover).toContain("token");
  expect(hover).not.toContain("c2VjcmV0");
});

it("a tool in a rule shows who may call it", async () => {
  const editor = await Editor.start();
  const hover = await editor.hover(
    "gateway.yaml",
    `gateways:
  default: { port: 3000 }
routes:
  - policies:
      mcpAuthorization:
        rules: ['mcp.tool.name == "ec|ho"', 'deny: mcp.tool.name == "env"']
    backends: [{ mcp: { targets: [{ name: a, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }]
`.replace("'deny: mcp.tool.name == \"env\"'", "{ deny: 'mcp.tool.name == \"env\"' }"),
  );
  expect(hover).toContain("who may use tool echo");
});
