import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { Workspace } from "../harness/workspace.ts";
import { generatedDocs } from "./generated-docs.ts";

const docs = (await generatedDocs()).map((doc) => ({
  ...doc,
  name: path.relative(root, doc.path),
}));

it.each(docs)("$name holds what npm run docs writes", ({ path: file, text }) => {
  expect(readFileSync(file, "utf8")).toBe(text);
});

it("CONTRIBUTING names files that exist", () => {
  const text = readFileSync(path.join(root, ".github/CONTRIBUTING.md"), "utf8");
  const named = [...text.matchAll(/`((?:compiler|templates|runtime|test|\.ci)\/[\w./*-]+)`/g)]
    .map(([, file = ""]) => file)
    .filter((file) => !/\bx\b|NAME|CODE|SUBJECT|\.\.\.$/.test(file));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => globSync(file, { cwd: root }).length === 0)).toEqual([]);
});

it("the code in README is what its example compiles to", () => {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const compiled = readFileSync(path.join(root, "out/authorization/routes/tools.ts"), "utf8");
  const [, code = ""] = /```ts\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(code).not.toBe("");
  for (const piece of code.split("\n\n")) expect(compiled).toContain(piece);
});

it("what README says of a pull request is what gwc diff says of it", async () => {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const [, edits = ""] = /```diff\n([\s\S]*?)\n```/.exec(readme) ?? [];
  const [, said] = /```text\n(\d+ differences?: [\s\S]*?)\n```/.exec(readme) ?? [];
  const folder = path.join(root, "examples/authorization");
  const before = readFileSync(path.join(folder, "gateway.yaml"), "utf8");
  const after = [...edits.matchAll(/^-(.*)\n\+(.*)$/gm)].reduce((text, [, from = "", to = ""]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, before);
  const workspace = new Workspace({
    "base.yaml": before,
    "gateway.yaml": after,
    "jwks.json": readFileSync(path.join(folder, "jwks.json"), "utf8"),
  });
  const { stdout } = await gwc(["diff", "base.yaml", "gateway.yaml"], { cwd: workspace.folder });
  expect(stdout).toBe(`${said}\n`);
});
