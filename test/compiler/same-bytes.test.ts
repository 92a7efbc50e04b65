import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseDocument, stringify } from "yaml";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";

const yaml = readFileSync(path.join(root, "examples/http/gateway.yaml"), "utf8");

async function outputOf(
  text: string,
  file = "gateway.yaml",
): Promise<Readonly<Record<string, string>>> {
  const { files } = await compileFile(file, { name: "http", host: memoryHost({ [file]: text }) });
  return Object.fromEntries(files.map((each) => [each.path, each.text]));
}

it("re-quoting, comments and layout change no byte of the output", async () => {
  const data: unknown = parseDocument(yaml).toJS();
  const before = await outputOf(yaml);
  const quoted = stringify(data, {
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    indent: 4,
  });
  expect(await outputOf(`# another comment\n${quoted}`)).toEqual(before);
  expect(await outputOf(JSON.stringify(data))).toEqual(before);
});

it("the order of keys changes no byte of the output", async () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, reversed(item)]),
    );
  };
  expect(await outputOf(stringify(reversed(parseDocument(yaml).toJS())))).toEqual(
    await outputOf(yaml),
  );
});

it("building elsewhere changes no byte of the output", async () => {
  expect(await outputOf(yaml, "/somewhere/else/gateway.yaml")).toEqual(await outputOf(yaml));
});

it("building elsewhere changes no byte of a gateway with policies of its user", async () => {
  const folder = path.join(root, "examples/policies");
  const names = [
    "gateway.yaml",
    ...["canary", "redact", "sign", "tenant"].map((name) => `policies/${name}.ts`),
  ];
  const builtIn = async (place: string) => {
    const texts = names.map((name) => [
      path.posix.join(place, name),
      readFileSync(path.join(folder, name), "utf8"),
    ]);
    const host = memoryHost(Object.fromEntries(texts));
    const file = path.posix.join(place, "gateway.yaml");
    const { files } = await compileFile(file, { name: "policies", host });
    return files.map((each) => [each.path, each.text]);
  };
  expect(await builtIn("/somewhere/else")).toEqual(await builtIn("/here"));
});

it("a new rule is a diff of two lines", async () => {
  const changed = yaml.replace(
    /( {6}authorization:\n {8}rules:\n(?: {10}.*\n)+)/,
    '$1          - require: request.path != "/x"\n',
  );
  const [before, after] = [await outputOf(yaml), await outputOf(changed)];
  const lines = (text: string | undefined): string[] => (text ?? "").split("\n");
  const old = new Set(lines(before["routes/users.ts"]));
  expect(lines(after["routes/users.ts"]).filter((line) => !old.has(line))).toHaveLength(2);
  expect(after["main.ts"]).toBe(before["main.ts"]);
});

it("a removed policy takes its constant, its lines and its import along", async () => {
  const withoutCors = yaml.replace(/ {4}policies:\n {6}cors:\n(?: {8}.*\n)*/, "");
  const { "routes/site.ts": text = "" } = await outputOf(withoutCors);
  expect(text).not.toMatch(/cors/i);
  expect(text).toContain("return forward(exchange, upstream);");
});
