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
