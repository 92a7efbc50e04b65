import { expect, it } from "vitest";
import { Editor } from "../harness/editor.ts";

const labels = async (editor: Editor, name: string, text: string) =>
  (await editor.completions(name, text)).map(({ label }) => label);

it("an empty line offers the fields of its mapping that are not there yet", async () => {
  const editor = await Editor.start();
  const found = await labels(editor, "gateway.yaml", "gateways:\n  default:\n    port: 1\n    |\n");
  expect(found).toEqual(expect.arrayContaining(["address", "listeners", "tls"]));
  expect(found).not.toContain("port");
});

it("required fields come first, with their type and their description", async () => {
  const editor = await Editor.start();
  const text = "gateways:\n  default:\n    |\n";
  const items = await editor.completions("gateway.yaml", text);
  const port = items.find(({ label }) => label === "port");
  expect(port?.detail).toBe("integer, required");
  expect(port?.sortText).toBe("0port");
  expect(port?.documentation).toEqual({ kind: "markdown", value: "The TCP port." });
});

it("fields are offered inside a file whose YAML is broken elsewhere", async () => {
  const editor = await Editor.start();
  const text = "routes:\n  - name: a\n    policies:\n      co|\n    backends: [\n";
  expect(await labels(editor, "gateway.yaml", text)).toContain("cors");
});

it("fields are offered above other keys, and in a flow mapping", async () => {
  const editor = await Editor.start();
  const above = "gateways:\n  default:\n    |\n    port: 1\n";
  expect(await labels(editor, "gateway.yaml", above)).toContain("tls");
  const flow = "gateways: { default: { port: 1, | } }\n";
  expect(await labels(editor, "gateway.yaml", flow)).toContain("tls");
});

it("values of a choice and the default are offered", async () => {
  const editor = await Editor.start();
  const text = "gateways:\n  default:\n    port: 1\n    protocol: |\n";
  expect(await labels(editor, "gateway.yaml", text)).toEqual(["HTTP", "HTTPS", "TCP", "TLS"]);
});

it("names of gateways, listeners, backends and route groups are offered where they are referred to", async () => {
  const editor = await Editor.start();
  const file = (end: string) => `gateways:
  public:
    port: 1
    listeners:
      - name: api
backends:
  - name: shop
    host: 127.0.0.1:1
routeGroups:
  - name: internal
    routes: []
routes:
  - name: a
${end}`;
  const ask = (end: string) => labels(editor, "gateway.yaml", file(end));
  expect(await ask("    gateways: |\n")).toEqual(["public", "public/api"]);
  expect(await ask("    gateways: [|]\n")).toEqual(["public", "public/api"]);
  expect(await ask("    backends:\n      - backend: |\n")).toContain("shop");
  expect(await ask("    backends:\n      - routeGroup: |\n")).toEqual(["internal"]);
});

it("names of manifests and of their sections are offered in references", async () => {
  const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: proxy }
spec:
  gatewayClassName: gwc
  listeners:
    - { name: web, port: 80, protocol: HTTP }
---
apiVersion: v1
kind: Service
metadata: { name: shop }
spec:
  ports: [{ port: 80 }]
`;
  const editor = await Editor.start({ "k8s/gateway.yaml": "", "k8s/proxy.yaml": gateway });
  const route = (spec: string) =>
    `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: a }\nspec:\n${spec}`;
  const ask = (spec: string) => labels(editor, "k8s/route.yaml", route(spec));
  expect(await ask("  parentRefs:\n    - name: |\n")).toEqual(["proxy"]);
  expect(await ask("  parentRefs:\n    - name: proxy\n      sectionName: |\n")).toContain("web");
  expect(await ask("  rules:\n    - backendRefs:\n        - name: |\n")).toContain("shop");
});

it("fields of test files are offered, and the routes that tests name", async () => {
  const config =
    "gateways:\n  default:\n    port: 1\nroutes:\n  - name: site\n    backends:\n      - host: 127.0.0.1:1\n";
  const editor = await Editor.start({ "gateway.yaml": config });
  const text = "tests:\n  - name: a\n    |\n";
  expect(await labels(editor, "a.test.yaml", text)).toEqual(
    expect.arrayContaining(["request", "tool", "expect"]),
  );
  const route = "tests:\n  - name: a\n    tool: x\n    route: |\n";
  expect(await labels(editor, "a.test.yaml", route)).toEqual(["site"]);
});
