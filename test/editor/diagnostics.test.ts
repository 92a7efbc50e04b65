import { expect, it } from "vitest";
import { Editor } from "../harness/editor.ts";

const VALID = `gateways:
  default:
    port: 3000
routes:
  - name: site
    backends:
      - host: 127.0.0.1:8080
`;

it("an open document gets the diagnostics of gwc check, with the hint", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", VALID.replace("port:", "prot:"));
  const [found, ...others] = await editor.diagnostics("gateway.yaml");
  expect(others).toEqual([]);
  expect(found?.code).toBe("unknown-field");
  expect(found?.message).toContain('did you mean "port"?');
  expect(found?.range).toEqual({
    start: { line: 2, character: 4 },
    end: { line: 2, character: 8 },
  });
});

it("diagnostics follow every change", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", VALID);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
  await editor.change("gateway.yaml", VALID.replace("3000", "70000"));
  expect(await editor.diagnostics("gateway.yaml")).toHaveLength(1);
  await editor.change("gateway.yaml", VALID);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});

it("invalid YAML is one diagnostic, and the server continues", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", `${VALID}    - broken: [\n`);
  const [found] = await editor.diagnostics("gateway.yaml");
  expect(found?.code).toBe("yaml-syntax");
  await editor.change("gateway.yaml", VALID);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});

it("files of other tools get no diagnostics", async () => {
  const editor = await Editor.start();
  await editor.open("compose.yaml", "services:\n  web:\n    image: nginx\n");
  await editor.open("gateway.yaml", VALID);
  await editor.diagnostics("gateway.yaml");
  expect(await editor.diagnosticsWhere("compose.yaml", () => true)).toEqual([]);
});

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: proxy
spec:
  gatewayClassName: gwc
  listeners:
    - name: http
      port: 8080
      protocol: HTTP
`;
const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: site
spec:
  parentRefs:
    - name: proxy
  rules:
    - filters:
        - type: RequestRedirect
          requestRedirect:
            hostname: www.example.com
`;

it("a manifest is checked with the files of its folder", async () => {
  const editor = await Editor.start({ "gateway.yaml": "", "k8s/gateway.yaml": GATEWAY });
  await editor.open("k8s/route.yaml", ROUTE);
  expect(await editor.diagnostics("k8s/route.yaml")).toEqual([]);
  await editor.change("k8s/route.yaml", ROUTE.replace("- name: proxy", "- name: prox"));
  const [found] = await editor.diagnostics("k8s/route.yaml");
  expect(found?.message).toContain('there is no Gateway "default/prox"');
});

it("an open document shadows its file", async () => {
  const editor = await Editor.start({ "k8s/proxy.yaml": GATEWAY, "k8s/route.yaml": ROUTE });
  await editor.open("k8s/route.yaml", ROUTE);
  expect(await editor.diagnostics("k8s/route.yaml")).toEqual([]);
  await editor.open("k8s/proxy.yaml", GATEWAY.replace("name: proxy", "name: other"));
  await editor.diagnosticsWhere("k8s/route.yaml", (found) => found.length === 1);
  await editor.close("k8s/proxy.yaml");
  await editor.diagnosticsWhere("k8s/route.yaml", (found) => found.length === 0);
});

it("a configured input is checked as one, whatever folders its files are in", async () => {
  const files = { "k8s/a/proxy.yaml": GATEWAY, "k8s/b/route.yaml": ROUTE };
  const editor = await Editor.start(files, { inputs: ["k8s"] });
  await editor.open("k8s/b/route.yaml", ROUTE);
  expect(await editor.diagnostics("k8s/b/route.yaml")).toEqual([]);
});

it("mistakes in a test file are reported", async () => {
  const editor = await Editor.start({ "gateway.yaml": VALID });
  await editor.open("site.test.yaml", "tests:\n  - name: it works\n    requst: GET http://a/\n");
  const codes = (await editor.diagnostics("site.test.yaml")).map(({ code }) => code);
  expect(codes).toContain("unknown-field");
});

it("the server ends when the editor asks it to", async () => {
  const editor = await Editor.start();
  expect(await editor.stop()).toBe(0);
});
