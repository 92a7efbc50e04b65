import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { call } from "../harness/call.ts";
import { startEcho } from "../harness/echo.ts";
import { startGateway } from "../harness/gateway.ts";

describe("a variable in an expression is data", () => {
  const evil = 'x" || true || "';
  const texts: Readonly<Record<string, string>> = {
    "in double quotes": '"${EVIL}" == request.headers["x-a"]',
    "in single quotes": "'${EVIL}' == request.headers['x-a']",
    "in three quotes": '"""${EVIL}""" == request.headers["x-a"]',
    "between other characters": '"a${EVIL}b" == request.headers["x-a"]',
    "in a pattern": 'request.headers["x-a"].matches("^${EVIL}$")',
  };

  it("so that it neither ends a text nor opens a pattern", async () => {
    const host = (await startEcho()).url.slice("http://".length);
    const names = Object.keys(texts);
    const routes = Object.values(texts).map((rule, index) => ({
      matches: [{ path: { exact: `/${index}` } }],
      policies: { authorization: { rules: [rule.replaceAll("${EVIL}", `\${EVIL:-${evil}}`)] } },
      backends: [{ host }],
    }));
    const gateway = await startGateway({ listeners: [{ routes }] });
    for (const [index, name] of names.entries()) {
      const value = name === "between other characters" ? `a${evil}b` : evil;
      const url = `${gateway.url}/${index}`;
      expect((await call(url, {})).status, name).toBe(403);
      expect((await call(url, { "x-a": "other" })).status, name).toBe(403);
      expect((await call(url, { "x-a": value })).status, name).toBe(200);
    }
  });
});

/** Returns the diagnostics of a configuration with one rule, and the rule after its variables were replaced. */
function ruleFor(rule: string, value: string) {
  const text = JSON.stringify({
    binds: [
      {
        port: 3000,
        listeners: [
          {
            routes: [
              {
                policies: { authorization: { rules: [rule] } },
                backends: [{ host: "127.0.0.1:1" }],
              },
            ],
          },
        ],
      },
    ],
  });
  const host = { ...memoryHost({ "gateway.yaml": text }), variable: () => value };
  const { programs } = checkInput(["gateway.yaml"], host, false);
  const policy = programs[0]?.binds[0]?.listeners[0]?.routes[0]?.policies[0];
  return policy?.kind === "authorization" ? policy.settings.rules[0] : undefined;
}

it("a variable in a pattern is no range, and takes no meaning from a backslash", () => {
  const pattern = (text: string, value: string) =>
    JSON.stringify(ruleFor(`request.path.matches("${text}")`, value)?.expression.code);
  expect(pattern("^/[${X}]$", "a-z")).toContain("a\\\\-z");
  expect(pattern("^/\\\\${X}$", "d")).toBeUndefined();
});

it("no value of a variable changes what a rule reads", () => {
  const places = [
    'request.path == "${X}"',
    "request.path == '${X}' && request.method == \"GET\"",
    'request.path == "a\\"${X}\\"b"',
    'request.path == r"${X}"',
    'request.path == """${X}"""',
    'request.path.matches("^/${X}/")',
    'request.path.matches(r"^/${X}/")',
    "size(request.path) > ${X}",
    'request.path == "a" // ${X}',
    'request.path == "${X}${X}"',
    'request.path == "\\${X}"',
  ];
  const wild = fc.oneof(
    fc.string(),
    fc
      .array(
        fc.constantFrom(
          '"',
          "'",
          "\\",
          "\n",
          "\r",
          ")",
          "||",
          "true",
          "jwt.sub",
          "1",
          "-",
          "//",
          'r"',
          "$",
        ),
      )
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), wild, (place, value) => {
      const rule = ruleFor(place, value);
      if (rule === undefined) return;
      const reads = ruleFor(place, "1")?.expression.reads ?? [["request", "path"]];
      expect(rule.expression.reads).toEqual(reads);
    }),
    { numRuns: 150 },
  );
});
