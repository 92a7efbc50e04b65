import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { LINE_FIELDS, OTHER_FIELDS } from "../../compiler/config/access-log.ts";
import { startGateway } from "../harness/gateway.ts";
import { root } from "../harness/root.ts";

it("a field that policies record appears once in a line, unless it is excluded", async () => {
  const denied = {
    authorization: { rules: [{ deny: "true" }] },
    directResponse: { status: 200 },
  };
  const gateway = await startGateway({
    file: {
      config: {
        logging: {
          format: "json",
          fields: { remove: ["rule"], add: { error: '"mine"', reason: '"own"' } },
        },
      },
    },
    listeners: [
      {
        routes: [
          { name: "denied", matches: [{ path: { exact: "/denied" } }], policies: denied },
          { name: "gone", backends: [{ host: "127.0.0.1:1" }] },
        ],
      },
    ],
  });
  await fetch(`${gateway.url}/denied`);
  await fetch(`${gateway.url}/gone`);
  await gateway.stop();
  const lines = gateway.output.split("\n").filter((line) => line.includes('"scope":"request"'));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const names = [...line.matchAll(/"([\w.]+)":/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain("rule");
    expect(JSON.parse(line)).toMatchObject({ error: "mine", reason: "own" });
  }
});

it("every recorded field has a name that can be excluded", () => {
  const runtime = path.join(root, "runtime");
  const noted = readdirSync(runtime, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(path.join(runtime, file), "utf8"))
    .filter((text) => text.includes("logFields("))
    .flatMap((text) => [
      ...text.matchAll(/\b(?:logFields\([^)]*\)|fields)\??\s*\.set\(\s*"([^"]+)"/g),
    ])
    .map(([, name = ""]) => name);
  expect(noted.length).toBeGreaterThan(20);
  const known = new Set<string>([...LINE_FIELDS, ...OTHER_FIELDS]);
  expect(noted.filter((name) => !known.has(name))).toEqual([]);
});
