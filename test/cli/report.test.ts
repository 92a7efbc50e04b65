import { describe, expect, it } from "vitest";
import { bugReport } from "../../compiler/diagnostics/report/bug.ts";
import { githubReport } from "../../compiler/diagnostics/report/github.ts";
import { junitReport } from "../../compiler/diagnostics/report/junit.ts";
import { textReport } from "../../compiler/diagnostics/report/text.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";

function findingsOf(text: string, file = "a.yaml") {
  return checkInput([file], memoryHost({ [file]: text }), false).findings;
}

function textOf(text: string): string {
  return textReport(findingsOf(text), false);
}

describe("source lines in reports", () => {
  it("carets are under wide characters, tabs and combined letters", () => {
    const said = textOf('binds: [] # \n"界e\u0301👍🏽": 1\n');
    expect(said).toContain('2 | "界e\u0301👍🏽": 1\n  | ^^^^^^^\n');
  });

  it("a long line is cut around what is marked", () => {
    const said = textOf(`config: {logging: {format: text}, ${"a".repeat(300)}: 1, statsAdr: x}\n`);
    const lines = said.split("\n");
    expect(lines.every((line) => [...line].length < 440)).toBe(true);
    const frame = lines.findIndex((line) => line.includes("statsAdr: x"));
    const [source = "", marks = ""] = [lines[frame], lines[frame + 1]];
    expect(source).toMatch(/^1 \| …a+: 1, statsAdr: x\}$/);
    expect(marks.indexOf("^")).toBe(source.indexOf("statsAdr"));
    expect(marks).toMatch(/^ {2}\| +\^{8}$/);
  });

  it("control characters and direction marks can't act on a terminal", () => {
    const said = textOf('binds: []\n"a\\u001b[31m": 1\n"b\u202eevil": 1\n');
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(said).toContain('no field "a\\u{1b}[31m"');
  });

  it("a related place is shown below the mistake", () => {
    const route = 'listeners: [{routes: [{backends: [{host: "a:1"}]}]}]';
    const said = textOf(`binds:\n  - port: 80\n    ${route}\n  - port: 80\n    ${route}\n`);
    expect(said).toContain(
      " --> a.yaml:4:11\n4 |   - port: 80\n  |           ^^\n ::> a.yaml:2:11\n2 |   - port: 80\n  |           -- first used here\n",
    );
  });
});

describe("secrets in reports", () => {
  const stdio = (env: string): string =>
    `binds: [{port: 80, listeners: [{routes: [{backends: [{mcp: {targets: [{name: a, stdio: {cmd: x, env: ${env}}}]}}]}]}]}]`;

  it("a literal secret is reported without its value", () => {
    const said = textOf(`${stdio("{MY_TOKEN: hunter2}")}\n`);
    expect(said).toContain('warning[literal-secret]: "MY_TOKEN" looks like a secret');
    expect(said).toContain("MY_TOKEN\n");
    expect(said).not.toContain("hunter2");
  });

  it("a secret near another mistake is starred out, a reference is not", () => {
    const said = textOf(
      [
        "binds: []",
        "x: {apiKey: hunter2, password: 'hunter2 too', TOKEN: \"${TOKEN}\"}",
        "y: {auth: Bearer abc.def, url: https://me:hunter2@host/}",
        "",
      ].join("\n"),
    );
    expect(said).not.toMatch(/hunter2|abc\.def/);
    expect(said).toContain('TOKEN: "${TOKEN}"');
  });

  it("a number of tokens is no secret", () => {
    const said = textOf("binds: []\nx: {maxTokens: 1000, tokens: 20, token: 123456}\n");
    expect(said).toContain("{maxTokens: 1000, tokens: 20, token: ******}");
    const grant = textOf("binds: []\nx: {allowCredentials: true, secret: trueish}\n");
    expect(grant).toContain("{allowCredentials: true, secret: *******}");
    expect(textOf("binds: []\nx: {allowCredentials: yes}\n")).toContain("{allowCredentials: yes}");
    const expression = "binds: []\nx: {max_tokens: 'llmRequest.max_tokens', my_token: 'a1'}\n";
    expect(textOf(expression)).toContain("{max_tokens: 'llmRequest.max_tokens', my_token: '**'}");
  });

  it("a private key written out is not printed", () => {
    const jwks = '{"keys":[{"kty":"oct","k":"aHVudGVyMg"}]}';
    const gateway = (value: string): string =>
      `binds: [{port: 80, listeners: [{routes: [{policies: {jwtAuth: {issuer: a, jwks: ${value}}}, backends: [{host: "a:1"}]}]}]}]\n`;
    const said = textOf(gateway(`'${jwks}'`));
    expect(said).toContain("error[bad-key-set]");
    expect(said).not.toContain("aHVudGVyMg");
    const quoted = JSON.stringify(jwks);
    expect(textOf(gateway(quoted))).not.toContain("aHVudGVyMg");
  });
});

describe("machine formats hold hostile text", () => {
  const hostile = 'binds: 1\n"::error::%0A,<&]]>\\u0007\\u0000": 1\n';

  it("a workflow command stays one command", () => {
    const said = githubReport(findingsOf(hostile, "a,b:c.yaml"));
    const lines = said.trimEnd().split("\n");
    expect(lines.every((line) => /^::error file=a%2Cb%3Ac\.yaml,/.test(line))).toBe(true);
    expect(lines.some((line) => line.includes("::error::%250A,"))).toBe(true);
  });

  it("JUnit XML is well-formed", () => {
    const said = junitReport(findingsOf(hostile), {
      files: ["a.yaml"],
      version: "0",
      isColored: false,
    });
    expect(said).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    expect(said).toContain("&lt;&amp;]]&gt;");
    // Everything that is no entity, tag or text is a mistake of the writer.
    expect(said.replace(/<[^<>]*>/g, "")).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot|#\d+);)/);
  });
});

describe("a bug in gwc", () => {
  it("is reported with its place and without its message, which may quote the configuration", () => {
    const error = new SyntaxError('Unexpected token in "hunter2"');
    const said = bugReport(error, false);
    expect(said).toMatch(/^error: this is a bug in gwc [\d.]+ \(Node\.js [\d.]+\): SyntaxError\n/);
    expect(said).toMatch(/^ {4}at .*report\.test\.ts:\d+:\d+/m);
    expect(said).not.toContain("hunter2");
    expect(bugReport(error, true)).toContain("hunter2");
  });
});
