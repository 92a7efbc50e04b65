import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const before = `binds:
  - port: 3000
    listeners:
      - routes:
          - name: api
            matches: [{path: {pathPrefix: /api}}]
            policies: {timeout: {requestTimeout: 10s}}
            backends: [{host: "127.0.0.1:9"}]
          - name: old
            matches: [{path: {pathPrefix: /old}}]
            policies: {directResponse: {status: 410, body: gone}}
`;
const after = before
  .replace(/ {10}- name: old[\s\S]*$/, "")
  .replace("10s", "5s")
  .concat(
    '          - name: \'<b>"new"</b>\'\n            backends: [{host: "a.internal:80"}, {host: "b.internal:80"}]\n',
  );

function drawn(...argv: readonly string[]): string {
  const { folder } = new Workspace({ "before.yaml": before, "after.yaml": after });
  return installedGwc(["graph", ...argv], { cwd: folder }).stdout;
}

it("draws listeners, routes with their policies, and servers; what answers by itself leads nowhere", () => {
  expect(drawn("before.yaml")).toBe(`flowchart LR
  n0["*:3000<br/>http"]
  n1["api<br/>path prefix /api<br/>timeout"]
  n2["http://127.0.0.1:9"]
  n3["old<br/>path prefix /old<br/>directResponse"]
  n0 --> n1
  n1 --> n2
  n0 --> n3
`);
});

it("draws where connections that are passed on lead, too", () => {
  const { folder } = new Workspace({
    "gateway.yaml": `binds:
  - port: 8443
    listeners:
      - protocol: TLS
        tcpRoutes:
          - {name: shop, hostnames: [shop.example.com], backends: [{host: "127.0.0.1:1"}]}
          - {name: rest, backends: [{host: "127.0.0.1:2"}, {host: "127.0.0.1:3"}]}
`,
  });
  const { stdout } = installedGwc(["graph", "gateway.yaml"], { cwd: folder });
  expect(stdout).toBe(`flowchart LR
  n0["*:8443<br/>connections"]
  n1["shop<br/>host shop.example.com"]
  n2["127.0.0.1:1"]
  n3["rest"]
  n4["127.0.0.1:2"]
  n5["127.0.0.1:3"]
  n0 --> n1
  n1 --> n2
  n0 --> n3
  n3 --> n4
  n3 --> n5
`);
});

it("marks what a change adds, removes and sets otherwise, and takes no markup from names", () => {
  const picture = drawn("before.yaml", "after.yaml");
  expect(picture).toContain('n1["api<br/>path prefix /api<br/>timeout"]:::changed');
  expect(picture).toContain('directResponse"]:::removed');
  expect(picture).toContain('["#60;b#62;#34;new#34;#60;/b#62;<br/>path prefix /"]:::added');
  expect(picture).toMatch(/n0 ==> n\d/);
  expect(picture).toMatch(/n0 -\.-> n\d/);
  const svg = drawn("before.yaml", "after.yaml", "--format", "svg");
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [\s\S]*<\/svg>\n$/);
  expect(svg).toContain("&lt;b&gt;&quot;new&quot;&lt;/b&gt;</text>");
  expect(svg).not.toContain("<b>");
  expect([...svg.matchAll(/<rect /g)]).toHaveLength(7);
});
