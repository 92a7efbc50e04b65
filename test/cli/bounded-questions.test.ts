import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

/** A question that does not end is killed, and has no exit code then. */
const timeout = 600_000;

function gateway(rules: readonly string[]): string {
  const authorization = { rules: rules.map((allow) => ({ allow })) };
  const route = { policies: { authorization, directResponse: { status: 200 } } };
  return JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes: [route] }] }] });
}

function numbered(count: number, rule: (at: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, at) => rule(at));
}

/** Each binding says the one before twice: the expression that it stands for is exponentially large. */
function bindings(depth: number, method: string): string {
  const inner = `a${depth} && request.method == "${method}"`;
  return Array.from({ length: depth }, (_, at) => depth - at).reduce(
    (body, at) =>
      `cel.bind(a${at}, a${at - 1} && (a${at - 1} || request.path == "/${at}"), ${body})`,
    inner,
  );
}

const bound = (body: string) => `cel.bind(a0, request.headers["x"] == "x", ${body})`;
const words = numbered(
  20,
  (at) => `request.headers["x"].contains("${String.fromCharCode(97 + at)}q")`,
);
const choices = (count: number) =>
  numbered(count, (at) => {
    const header = (place: number) => `request.headers["h${place}"] == "${place}"`;
    return `(${header(at)} ? ${header(at + 1)} : ${header((at * 7) % count)})`;
  }).join(" && ");
const inside = (method: string) => {
  const list = JSON.stringify(numbered(60, (at) => `v${at}`));
  const inner = `request.headers["a"] == a && request.headers["b"] == b && request.headers["c"] == c`;
  return `${list}.exists(a, ${list}.exists(b, ${list}.exists(c, ${inner} && request.method == "${method}")))`;
};

it.each([
  ["bindings in one another", [bound(bindings(30, "GET"))], [bound(bindings(30, "PUT"))]],
  ["many words in one header", words.slice(1), words],
  ["choices between headers", [choices(60)], [choices(61)]],
  ["lists in one another", [inside("GET")], [inside("PUT")]],
])("questions about %s end, and are not decided", { timeout }, (_, before, after) => {
  const { folder } = new Workspace({ "old.yaml": gateway(before), "new.yaml": gateway(after) });
  const run = (...argv: string[]) => installedGwc(argv, { cwd: folder, timeout });
  const diff = run("diff", "old.yaml", "new.yaml", "--exit-code");
  expect(diff.stdout.split("\n")[0]).toBe("no difference found, and 1 not decided");
  expect(diff.code).toBe(5);
  const can = run(
    "can",
    "--who",
    "GET",
    "http://a.test:3000/",
    "-f",
    "new.yaml",
    "--format",
    "json",
  );
  expect(JSON.parse(can.stdout).outcome).toBe("depends");
  expect(run("audit", "new.yaml").code).toBe(0);
});

it("questions about rules that stay the same take no steps", { timeout }, () => {
  const text = gateway(words);
  const { folder } = new Workspace({ "old.yaml": text, "new.yaml": text.replace("3000", "3000 ") });
  const { code, stdout } = installedGwc(["diff", "old.yaml", "new.yaml", "--exit-code"], {
    cwd: folder,
    timeout,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "no request is treated differently\n" });
});
