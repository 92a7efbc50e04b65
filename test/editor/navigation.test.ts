import { expect, it } from "vitest";
import {
  DefinitionRequest,
  DocumentLinkRequest,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  type Location,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
} from "vscode-languageserver-protocol";
import { Editor } from "../harness/editor.ts";

const FILE = `gateways:
  public:
    port: 3000
    listeners:
      - name: api
backends:
  - name: shop
    host: 127.0.0.1:1
routes:
  - name: site
    gateways: public/api
    backends:
      - backend: shop
        weight: 1
      - backend: shop
        weight: 2
`;
const TEST = `tests:
  - name: it works
    request: GET http://a/
    expect: { route: site }
`;

/** `name:line` of each place, with lines from 1. */
function places(editor: Editor, found: Location | readonly Location[] | null): readonly string[] {
  return [found ?? []].flat().map(({ uri, range }) => {
    const name = uri.slice(editor.uri("").length).replace(/^\//, "");
    return `${name}:${range.start.line + 1}`;
  });
}

it("a backend, a gateway and a listener lead to their declarations", async () => {
  const editor = await Editor.start();
  const ask = async (text: string) =>
    places(
      editor,
      (await editor.ask(DefinitionRequest.type, "gateway.yaml", text, {})) as Location[],
    );
  expect(await ask(FILE.replace("backend: shop", "backend: sh|op"))).toEqual(["gateway.yaml:7"]);
  expect(await ask(FILE.replace("public/api", "pub|lic/api"))).toEqual(["gateway.yaml:2"]);
  expect(await ask(FILE.replace("public/api", "public/a|pi"))).toEqual(["gateway.yaml:5"]);
});

it("the references of a route include those of test files", async () => {
  const editor = await Editor.start({ "site.test.yaml": TEST });
  const found = await editor.ask(
    ReferencesRequest.type,
    "gateway.yaml",
    FILE.replace("name: site", "name: si|te"),
    { context: { includeDeclaration: false } },
  );
  expect(places(editor, found)).toEqual(["site.test.yaml:4"]);
});

it("a rename changes every use of a name and nothing else", async () => {
  const editor = await Editor.start();
  const text = FILE.replace("name: shop", "name: sh|op");
  expect(await editor.ask(PrepareRenameRequest.type, "gateway.yaml", text, {})).toEqual({
    start: { line: 6, character: 10 },
    end: { line: 6, character: 14 },
  });
  const edit = await editor.ask(RenameRequest.type, "gateway.yaml", text, { newName: "books" });
  const lines = edit?.changes?.[editor.uri("gateway.yaml")]?.map(({ range }) => range.start.line);
  expect(lines).toEqual([6, 12, 14]);
});

it("a rename of an MCP server changes the rules that name it", async () => {
  const text = `gateways:
  default:
    port: 3000
routes:
  - policies:
      mcpAuthorization:
        rules:
          - mcp.tool.target == "reports"
          - 'mcp.tool.target in ["reports", "x"]'
    backends:
      - mcp:
          targets:
            - name: rep|orts
              mcp: { host: "http://127.0.0.1:1" }
`;
  const editor = await Editor.start();
  const edit = await editor.ask(RenameRequest.type, "gateway.yaml", text, { newName: "books" });
  const found = edit?.changes?.[editor.uri("gateway.yaml")]?.map(({ range: { start } }) => [
    start.line,
    start.character,
  ]);
  expect(found).toEqual([
    [7, 32],
    [8, 34],
    [12, 20],
  ]);
});

it("a name that would need quotes is refused", async () => {
  const editor = await Editor.start();
  const text = FILE.replace("name: shop", "name: sh|op");
  await expect(
    editor.ask(RenameRequest.type, "gateway.yaml", text, { newName: "a: b" }),
  ).rejects.toThrow("letters, digits");
});

it("a Gateway in a reference leads to its manifest, in another file", async () => {
  const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: proxy
spec:
  gatewayClassName: gwc
  listeners:
    - name: web
      port: 80
      protocol: HTTP
`;
  const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: site
spec:
  parentRefs:
    - name: proxy
      sectionName: web
`;
  const editor = await Editor.start({ "k8s/proxy.yaml": gateway });
  const ask = async (text: string) =>
    places(
      editor,
      (await editor.ask(DefinitionRequest.type, "k8s/route.yaml", text, {})) as Location[],
    );
  expect(await ask(route.replace("- name: proxy", "- name: pro|xy"))).toEqual(["k8s/proxy.yaml:4"]);
  expect(await ask(route.replace("sectionName: web", "sectionName: w|eb"))).toEqual([
    "k8s/proxy.yaml:8",
  ]);
});

it("a file that is read is a link", async () => {
  const text = `gateways:
  default:
    port: 3000
routes:
  - policies:
      jwtAuth:
        issuer: https://issuer.example.com
        audiences: [a]
        jwks:
          file: keys.json
    backends:
      - host: 127.0.0.1:1
`;
  const editor = await Editor.start({ "keys.json": '{"keys":[]}' });
  await editor.open("gateway.yaml", text);
  const links = await editor.connection.sendRequest(DocumentLinkRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  expect(links?.map(({ target }) => target)).toEqual([editor.uri("keys.json")]);
});

it("symbols are the sections, and the items of lists by their names", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", FILE);
  const symbols = await editor.connection.sendRequest(DocumentSymbolRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  const names = symbols?.map(({ name }) => name);
  expect(names).toEqual(["gateways", "backends", "routes"]);
  expect(JSON.stringify(symbols)).toContain('"site"');
});

it("mappings and lists of several lines can be folded, in a file with a mistake, too", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", `${FILE}broken: [\n`);
  const folds = await editor.connection.sendRequest(FoldingRangeRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  const ranges = folds?.map(({ startLine, endLine }) => [startLine, endLine]);
  expect(ranges).toContainEqual([0, 4]);
  expect(ranges).toContainEqual([8, 15]);
});
