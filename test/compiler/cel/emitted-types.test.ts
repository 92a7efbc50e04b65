import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CelPhase, type CelSlot, compileExpression } from "../../../compiler/cel/compile.ts";
import { libraries } from "../../../compiler/cel/functions/index.ts";
import { operatorNames, operators } from "../../../compiler/cel/functions/operators.ts";
import { MACRO_DOCS } from "../../../compiler/cel/macro-docs.ts";
import type { Overload } from "../../../compiler/cel/types/signature.ts";
import { formatType, type Type } from "../../../compiler/cel/types/types.ts";
import { CEL_PHASES, phaseEnvironment } from "../../../compiler/cel/variables/variables.ts";
import type { CompiledExpression } from "../../../compiler/model/expressions.ts";
import { code, comment, join } from "../../../templates/code/code.ts";
import { constantsOf, Expressions } from "../../../templates/code/expression.ts";
import type { Hole } from "../../../templates/code/hole.ts";
import { returned } from "../../../templates/code/layout.ts";
import { importedType, name } from "../../../templates/code/names.ts";
import { printModule, printText } from "../../../templates/code/print.ts";
import { formatted } from "../../harness/formatted.ts";
import { expressions } from "./expressions.ts";

const root = path.resolve(import.meta.dirname, "../../..");

/** The types of the variables of emitted code, as generated modules have them. */
const VARIABLES: Readonly<Record<string, string>> = {
  jwt: "JwtVariable",
  apiKey: "ApiKeyVariable",
  basicAuth: "BasicAuthVariable",
  extauthz: "PolicyVariable",
  custom: "PolicyVariable",
  extproc: "PolicyVariable",
  metadata: "PolicyVariable",
  mcp: "McpVariables",
  request: "RequestVariables",
  response: "ResponseVariables",
  backend: "BackendVariable",
  env: "EnvVariables",
  llm: "LlmVariable",
  llmRequest: "LlmRequestVariable",
};

/** Rules as people write them, and some that only a type checker could stumble on. */
const RULES: readonly string[] = [
  'jwt.sub == "a" && mcp.tool.name == "b"',
  '"admin" in jwt.roles',
  'request.path.startsWith("/api") && jwt.email.endsWith("@x.com")',
  'mcp.tool.name in ["a", "b", "c"]',
  'request.headers["x-foo"] == "v1" || jwt.roles.exists(r, r.startsWith("adm"))',
  'jwt.sub == "a" && jwt.sub == jwt.x',
  'jwt.sub == "a" && (jwt.x == 1 || jwt.sub == "b")',
  'request.path == "/a" && request.path.matches("^/b$")',
  'request.path != "/a" || request.path == "/b"',
  'request.method == "GET" ? request.path == "/a" : request.path == "/b"',
  "request.path == 'a' ? request.path == 'b' : request.path == 'c'",
  "jwt == null || jwt.sub == 'a'",
  "jwt != null && jwt.sub == 'a'",
  "has(mcp.tool) || mcp.tool.name == 'a'",
  "!has(mcp.tool) && has(mcp.prompt)",
  "has(mcp.tool) && mcp.tool.name == 'a' && mcp.tool.target == 't'",
  "jwt.constructor == 1 || jwt.__proto__ == 2",
  "request.path == 1 || jwt.a",
  "jwt.level >= 3 && jwt.level < 10",
  "source.port > 1024 && source.port * 2 + 1 < 100000",
  "jwt.a.b.c[0].d == 1.5",
  '{"a": jwt.a, "b": 1.0}.a == 1',
  "[jwt.a, 2.0, 3u][0] == 1",
  "jwt.roles.all(r, jwt.groups.exists(g, g == r))",
  "jwt.roles.filter(r, r != 'x').map(r, r + '!').size() > 1",
  "default(jwt.tier, 'free') == 'gold'",
  "coalesce(request.headers['x'], jwt.sub, 'anon') == 'a'",
  'cidr("10.0.0.0/8").containsIP(source.address)',
  "request.startTime > timestamp('2026-01-01T00:00:00Z') + duration('1h')",
  "json(request.body).model == 'a'",
  "jwt.?sub.orValue('x') == 'y'",
  "request.scheme == 'ftp'",
  "basicAuth.username == 'a' || apiKey.tier == 'b' || extauthz.x == 1",
  "jwt.a == b'abc' || type(jwt.a) == int",
  "{1: 'a'}[jwt.x] == 'a'",
  "cel.bind(r, jwt.roles, 'a' in r && 'b' in r)",
  "jwt.items.exists(request, request == 'x')",
  `jwt.a == "${"long é ".repeat(40)}" || jwt.b.startsWith("${"x".repeat(200)}")`,
  `jwt.a.matches("${"(a|b)+".repeat(30)}")`,
  "jwt.items.exists(items, [1, 2].exists(class, class == items))",
];

const LOG_RULES: readonly string[] = [
  "llm.outputTokens * 2 + llm.inputTokens > 100",
  "llm.streaming && !llm.streaming",
  "response.code == 200 && response.code >= 500",
  "request.endTime - request.startTime > duration('1s')",
  "llm.prompt.exists(m, m.role == 'user' && m.content.contains('x'))",
  "backend.type == 'ai' && env.gateway == 'a' && mcp.tool.name == 'b'",
];

/** Generated expressions over variables of every kind that the gateway has. */
function generated(): readonly string[] {
  const variables: Readonly<Record<string, string>> = {
    x: "source.port",
    y: "response.code",
    u: "uint(source.port)",
    d: "double(llm.inputTokens)",
    s: "request.path",
    b: "llm.streaming",
    l: "jwt.list",
    m: "jwt",
  };
  const count = process.env.GWC_LONG_TESTS === undefined ? 400 : 5_000;
  return fc
    .sample(expressions, { numRuns: count, seed: 7 })
    .map((text) =>
      text.replace(/(?<!["\w.])[xyudsblm](?!["\w(])/g, (name) => variables[name] ?? name),
    );
}

/** An argument of a type, from the gateway's own variables or from a claim. */
function argument(type: Type, isTyped: boolean): string {
  if (!isTyped) return "jwt.claim";
  const text = formatType(type);
  const known: Readonly<Record<string, string>> = {
    string: "request.path",
    int: "source.port",
    double: "double(source.port)",
    uint: "uint(source.port)",
    bool: 'request.path.startsWith("/")',
    bytes: "request.body",
    timestamp: "request.startTime",
    duration: 'duration("1s")',
    ip: "ip(source.address)",
    cidr: 'cidr("10.0.0.0/8")',
  };
  if (known[text] !== undefined) return known[text];
  switch (type.kind) {
    case "list":
      return `[${argument(type.element, true)}]`;
    case "map":
      return "request.headers";
    case "optional":
      return "optional.of(request.path)";
    default:
      return "request.path";
  }
}

function callOf(name: string, overload: Overload, isTyped: boolean): string {
  const args = overload.params.map((param) => argument(param, isTyped));
  const symbol = [...operatorNames].find(([, known]) => known === name)?.[0];
  const isOperator = operators.some((operator) => operator.name === name);
  if (isOperator) {
    return args.length === 1 ? `${symbol ?? "-"}(${args[0]})` : args.join(` ${symbol} `);
  }
  if (!overload.isMethod) return `${name}(${args.join(", ")})`;
  return `${args[0]}.${name}(${args.slice(1).join(", ")})`;
}

function compiled(text: string, phase: CelPhase, slot: CelSlot): CompiledExpression | undefined {
  const { expression, problems } = compileExpression(text, { phase, slot });
  const codes = problems.map(({ code }) => code);
  if (expression === undefined && slot === "value" && phase !== "log") {
    expect(codes, text).toEqual(
      expect.arrayContaining([expect.stringMatching(/^cel-(always-fails|no-overload)$/)]),
    );
  }
  return expression;
}

function everything(): readonly (readonly [string, CompiledExpression])[] {
  const calls = libraries.flatMap(({ functions }) =>
    functions.flatMap(({ name, overloads }) =>
      overloads.flatMap((overload) => [
        callOf(name, overload, true),
        callOf(name, overload, false),
      ]),
    ),
  );
  const mcp = [...RULES, ...calls, ...MACRO_DOCS.map(({ example }) => example[0])];
  const variables = CEL_PHASES.flatMap((phase) =>
    [...phaseEnvironment(phase).declarations.values()].flatMap(({ path, code }) => {
      const forms = path.includes(".") ? [`has(${path})`, `!has(${path}) || ${path} != null`] : [];
      return code === undefined ? [] : [path, ...forms].map((text) => [text, phase] as const);
    }),
  );
  const texts = [
    ...variables,
    ...mcp.map((text) => [text, "mcp"] as const),
    ...[...LOG_RULES, ...generated()].map((text) => [text, "log"] as const),
  ];
  return texts.flatMap(([text, phase]) =>
    (["value", "allow", "deny"] as const).flatMap((slot) => {
      const expression = compiled(text, phase, slot);
      return expression === undefined ? [] : [[slot, expression] as const];
    }),
  );
}

/** A module as generated code has them: imports, constants, functions of the variables that they read. */
function moduleOf(all: readonly (readonly [string, CompiledExpression])[]): string {
  const types = Object.entries(VARIABLES).map(
    ([variable, type]) => code`readonly ${name(variable)}: ${importedType(TYPES, type)};`,
  );
  const functions = all.map(([slot, expression], index) => {
    const { variables, source } = expression;
    const read = join(variables.map(name), ", ");
    const type = name(slot === "value" ? "unknown" : "boolean");
    return code`
      ${comment(`${slot}: ${source}`)}
      export function ${name(`f${index}`)}(${variables.length === 0 ? [] : code`{ ${read} }: Input`}): ${type} {
        ${statementsOf(expression)}
      }
    `;
  });
  const input = code`
    interface Input {
      ${types}
    }
  `;
  const body = join([input, ...functions], "\n\n");
  return printModule({ path: "", header: [], body, declared: [] }).text;
}

const TYPES = "gwc/runtime/cel/variables";

/** The constants that an expression needs, and the expression. */
function statementsOf(expression: CompiledExpression): Hole {
  const expressions = new Expressions();
  const result = returned(expressions.use(expression.code));
  return [...constantsOf(expressions), result];
}

describe("emitted code", () => {
  const all = everything();

  it("type-checks under strict rules without unused names, for every function and rule", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gwc-cel-"));
    try {
      writeFileSync(path.join(folder, "all.ts"), moduleOf(all));
      const options = {
        strict: true,
        noUnusedLocals: true,
        noUnusedParameters: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        target: "es2024",
        module: "nodenext",
        allowImportingTsExtensions: true,
        noEmit: true,
        skipLibCheck: true,
        types: ["node"],
        typeRoots: [path.join(root, "node_modules/@types")],
        paths: { "gwc/runtime/*": [path.join(root, "runtime/*.ts")] },
      };
      writeFileSync(
        path.join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions: options, include: ["all.ts"] }),
      );
      let output = "";
      try {
        execFileSync(path.join(root, "node_modules/.bin/tsc"), ["-p", folder], {
          encoding: "utf8",
        });
      } catch (error) {
        output = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
      }
      expect(output).toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("is laid out as biome format would lay it out", () => {
    const text = moduleOf(all);
    expect(formatted(text)).toBe(text);
  });

  it("keeps to the rules of generated code: no any, no assertion, lines of at most 100 columns", () => {
    expect(all.length).toBeGreaterThan(800);
    for (const [, expression] of all) {
      const text = printText(statementsOf(expression));
      const plain = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
      expect(plain).not.toMatch(/\bany\b|\bas\b|\blet\b|[\w)\]]!(?!=)/);
      expect(text).not.toMatch(/[^\x20-\x7e\n]/);
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    }
  });
});
