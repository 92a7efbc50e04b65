import { describe, expect, it } from "vitest";
import { findingsOf } from "../../compiler/diagnostics/report/findings.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { runTests } from "../../compiler/inspect/tests/run-tests.ts";
import { config, line, offers, one } from "./tested-gateway.ts";

/** Returns the findings of `gwc test`, each as `CODE line: message`. */
async function found(tests: string, gateway = config): Promise<readonly string[]> {
  const host = memoryHost({ "gateway.yaml": gateway, "a.test.yaml": tests });
  const checked = checkInput(["gateway.yaml"], host, false);
  if (checked.programs.length === 0)
    throw new Error(checked.findings.map(({ message }) => message).join("\n"));
  const { verdicts, mistakes, files } = await runTests(["a.test.yaml"], checked, host);
  const all = [...mistakes, ...verdicts.flatMap(({ diagnostics }) => diagnostics)];
  return findingsOf(all, files, false).map(
    ({ code, location, message }) => `${code} ${location.line}: ${message}`,
  );
}

/**
 * Returns the findings of each of some tests that run together: the second line of their file is that of the first of
 * them.
 */
function foundOfEach(tests: readonly string[]): (index: number) => Promise<readonly string[]> {
  let all: Promise<readonly string[]> | undefined;
  return async (index) => {
    all ??= found(`${offers}tests:\n${tests.join("")}`);
    const own = new RegExp(`^\\S+ ${index + 3}: `);
    return (await all).filter((each) => own.test(each)).map((each) => each.replace(own, ""));
  };
}

describe("a test passes when what it expects comes out", () => {
  const cases = [
    [
      "a list holds what rules show",
      "list: tools, as: {jwt: {sub: eve}}",
      "listed: [files_read, tables_read]",
    ],
    [
      "an admin's list holds more, but nothing denied",
      "list: tools, as: {jwt: {roles: [admin]}}",
      "listed: [files_read, tables_read, tables_query]",
    ],
    [
      "a call names its rule and server",
      "tool: tables_read, as: {jwt: {sub: eve}}",
      "allowed: true, rule: 'mcp.tool.name == \"read\"', backend: {server: tables}",
    ],
    [
      "a denied call names the rule that denies",
      "tool: files_drop, as: {jwt: {roles: [admin]}}",
      "allowed: false, reason: Authorization, rule: 'mcp.tool.name == \"drop\"'",
    ],
    [
      "a deny rule holds for one line of a repeated header",
      "request: GET http://localhost:3000/repeated, headers: {d: ['2', '1']}",
      'allowed: false, reason: Authorization, rule: \'default(request.headers.d, "") == "1"\'',
    ],
    [
      "lines of a repeated header pass when the rule matches none",
      "request: GET http://localhost:3000/repeated, headers: {d: ['2', '3']}",
      "allowed: true",
    ],
    [
      "a match refuses a repeated header",
      "request: GET http://localhost:3000/repeated, headers: {x-match: ['2', '3']}",
      "status: 400, reason: BadRequest",
    ],
    ["nobody is let in without a token", "tool: files_read", "status: 401, reason: JwtAuth"],
    [
      "an expired token does not count",
      "tool: files_read, as: {jwt: {sub: eve, exp: 1}}",
      "status: 401",
    ],
    [
      "a token of another issuer does not count",
      "tool: files_read, as: {jwt: {iss: 'https://other.example.com'}}",
      "status: 401",
    ],
    [
      "a backend gets what policies make of a request",
      "request: 'GET http://a/shop/x?q=1', as: {basicAuth: eve}",
      "status: 200, route: shop, backend: {server: 'http://shop.internal:8080', path: '/v2/x?q=1', headers: {x-user: eve, x-path: /shop/x, authorization: 'Bearer unset-shop-key'}}",
    ],
    [
      "a key's metadata decides",
      "request: 'POST http://a/shop', body: '{}', as: {apiKey: {team: blue}}",
      "allowed: true, backend: {contains: '{}', headers: {x-key: null, x-user: null}}",
    ],
    [
      "a key with other metadata does not",
      "request: 'POST http://a/shop', as: {apiKey: {team: red}}",
      "allowed: false, status: 403",
    ],
    [
      "an address decides",
      "request: GET http://a/shop, from: 10.1.2.3",
      "rule: 'cidr(\"10.0.0.0/8\").containsIP(source.address)'",
    ],
    [
      "a server's response goes through",
      "request: GET http://a/shop, response: {status: 404, headers: {x-a: b}, body: gone}",
      "allowed: true, status: 404, headers: {x-a: b}, contains: gone",
    ],
    [
      "a redirect is allowed and asks no server",
      "request: GET http://a/old",
      "allowed: true, status: 301, headers: {location: 'http://a/new'}",
    ],
    [
      "who is logged in is known",
      "request: GET http://a/office, as: {jwt: {email: eve@example.com}}",
      "allowed: true, backend: {headers: {x-user: eve@example.com, cookie: null}}",
    ],
    [
      "who is logged in may be the wrong one",
      "request: GET http://a/office, as: {jwt: {email: eve@example.org}}",
      "allowed: false, reason: Authorization",
    ],
    [
      "a browser is sent to the login, which lets nobody in",
      "request: GET http://a/office, headers: {accept: text/html}",
      "allowed: false, status: 302, reason: Oidc",
    ],
    ["a program is not", "request: GET http://a/office", "status: 401, reason: Oidc"],
    [
      "nothing answers elsewhere",
      "request: GET http://a/elsewhere",
      "status: 404, reason: NotFound",
    ],
    [
      "a limit refuses the third of its requests",
      "request: GET http://a/limited, repeat: 3",
      "status: 429, reason: RateLimit",
    ],
    [
      "a model is asked in its provider's format",
      "model: small, text: how are you, as: {apiKey: {team: red}}",
      "allowed: true, contains: ok, backend: {server: 'https://api.openai.com', headers: {authorization: 'Bearer unset-openai-key'}, contains: how are you}",
    ],
    [
      "a model that a key may not use is refused",
      "model: large, as: {apiKey: {team: red}}",
      "allowed: false",
    ],
  ] as const;
  const foundOf = foundOfEach(cases.map(([name, what, expected]) => line(name, what, expected)));

  it.each(cases.map(([name], index) => [name, index] as const))("%s", async (_, index) => {
    expect(await foundOf(index)).toEqual([]);
  });

  it("each begins with untouched limits", async () => {
    const each = (name: string) =>
      `{name: ${name}, request: GET http://a/limited, repeat: 2, expect: {status: 200}}`;
    expect(await found(`tests: [${["a", "b", "c"].map(each).join(", ")}]\n`)).toEqual([]);
  });

  it("what a listener decides before routing is decided by its rules and limits", async () => {
    const host = memoryHost({
      "gateway.yaml": `binds:
  - port: 3000
    listeners:
      - policies:
          authorization: {rules: [{deny: request.path == "/no"}]}
          localRateLimit: [{maxTokens: 2, tokensPerFill: 1, fillInterval: 60s}]
        routes: [{name: x, backends: [{host: "\${HOST}:\${PORT}"}]}]
`,
      "a.test.yaml": `tests:
  - {name: a, request: GET http://a/, repeat: 3, expect: {status: 429}}
  - {name: b, request: GET http://a/, expect: {status: 200, backend: {server: "http://unset-host"}}}
  - {name: c, request: GET http://a/no, expect: {status: 403, rule: request.path == "/no"}}
`,
    });
    const run = await runTests(["a.test.yaml"], checkInput(["gateway.yaml"], host, false), host);
    expect(run.verdicts.flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
    expect(run.coverage.filter(({ isCovered }) => !isCovered)).toEqual([]);
  });
});

describe("a test fails at the line of what is not as expected: unmet-expectation", () => {
  const cases = [
    [
      "tool: files_read, as: {jwt: {sub: eve}}",
      "allowed: false",
      "it is allowed, expected refused",
    ],
    [
      "list: tools, as: {jwt: {sub: eve}}",
      "listed: [files_read]",
      "the list is [files_read, tables_read], expected [files_read]",
    ],
    ["request: GET http://a/shop", "status: 201", "the status is 200, expected 201"],
    ["request: GET http://a/shop", "reason: Csrf", 'the reason is none, expected "Csrf"'],
    ["request: GET http://a/shop", "route: moved", 'the route is "shop", expected "moved"'],
    [
      "tool: files_drop, as: {jwt: {}}",
      "rule: 'mcp.tool.name == \"read\"'",
      'the deciding rule is "mcp.tool.name == \\"drop\\"", expected "mcp.tool.name == \\"read\\""',
    ],
    [
      "request: GET http://a/shop",
      "backend: {headers: {x-path: null}}",
      'the backend\'s header x-path is "/shop", expected none',
    ],
    [
      "request: GET http://a/old",
      "backend: {path: /x}",
      "the backend is not called, expected a request",
    ],
    [
      "request: GET http://a/shop",
      "contains: x",
      'the response\'s body is "", expected one with "x"',
    ],
  ] as const;
  const foundOf = foundOfEach(cases.map(([what, expected], at) => line(`t${at}`, what, expected)));

  it.each(cases.map((each, index) => [...each, index] as const))(
    "%s: %s",
    async (_, __, message, index) => {
      expect(await foundOf(index)).toEqual([`"t${index}": ${message}`]);
    },
  );
});

describe("MCP clients of both eras send a test", () => {
  const gateway = `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            policies:
              authorization: {rules: ['!("mcp-method" in request.headers) || request.headers["mcp-method"] == "tools/call"']}
              mcpAuthorization: {rules: [mcp.tool.name == "read"]}
            backends: [{mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
`;
  const server = "servers: {files: {tools: [read]}}\ntests:\n";

  it("which get the same answer, or a report of the difference: eras-differ", async () => {
    const tests = [
      line("a call", "tool: read", "allowed: true, backend: {path: /mcp}"),
      line("a list", "list: tools", "route: tools"),
      line("one era's list", "list: tools, era: sessions", "listed: [read], status: 200"),
      line("the other's", "list: tools, era: stateless", "reason: Authorization, status: 403"),
      line("nobody's", "list: tools", "listed: [read]"),
      line("a request", "request: GET http://a/, era: sessions", "status: 403"),
    ];
    expect(await found(server + tests.slice(0, 5).join(""), gateway)).toEqual([
      'eras-differ 4: "a list": an MCP client without sessions is refused with 403 Authorization, one with sessions is shown [read]',
      'unmet-expectation 7: "nobody\'s": the list is [] to a client without sessions, expected [read]',
    ]);
    expect(await found(server + tests[5], gateway)).toEqual([
      expect.stringContaining('"era" requires a "tool", "prompt", "resource" or "list"'),
    ]);
  });

  it("whose sessions begin and end: what begins none is refused there", async () => {
    const limited = gateway.replace(
      /authorization: .*/,
      "localRateLimit: [{maxTokens: 4, tokensPerFill: 1, fillInterval: 60s}]",
    );
    const tests = [
      line("calls of a session", "tool: read, repeat: 2, era: sessions", "allowed: true"),
      line(
        "one too many",
        "tool: read, repeat: 3, era: sessions",
        "reason: RateLimit, status: 429",
      ),
      line("calls without one", "tool: read, repeat: 4, era: stateless", "allowed: true"),
      line(
        "of which there is one too many",
        "tool: read, repeat: 5, era: stateless",
        "status: 429",
      ),
    ];
    expect(await found(server + tests.join(""), limited)).toEqual([]);
  });
});

describe("a test that fails says what happened", () => {
  it("and by which names clients call what several servers may have", async () => {
    const tests = one("tool: read, as: {jwt: {sub: eve}}", "allowed: true");
    const host = memoryHost({ "gateway.yaml": config, "a.test.yaml": tests });
    const { verdicts, files } = await runTests(
      ["a.test.yaml"],
      checkInput(["gateway.yaml"], host, false),
      host,
    );
    const findings = findingsOf(
      verdicts.flatMap(({ diagnostics }) => diagnostics),
      files,
      false,
    );
    expect(findings.map(({ hint }) => hint)).toEqual([
      "route tools responded 200 MCP; clients see it as files_read or tables_read",
    ]);
  });
});

describe("a test that shows nothing is a mistake", () => {
  it.each([
    [
      "unknown-in-test",
      "tool: x, route: tolls",
      "allowed: true",
      'the configuration has no route to MCP servers "tolls"',
    ],
    [
      "unknown-in-test",
      "request: GET http://a/shop",
      "route: shp",
      'the configuration has no route "shp"',
    ],
    [
      "unknown-in-test",
      "request: GET http://a/shop",
      "rule: jwt.sub",
      'the configuration has no rule "jwt.sub"',
    ],
    [
      "unoffered-item",
      "list: tools, as: {jwt: {}}",
      "listed: [raed]",
      '"raed" cannot be listed: the servers of the route do not offer it among their tools',
    ],
    [
      "unreachable-test",
      "request: GET http://a:81/shop",
      "status: 200",
      "no listener is open for http://a:81/shop",
    ],
    [
      "unused-identity",
      "tool: files_read, as: {jwt: {}, basicAuth: eve}",
      "status: 200",
      'no policy on the route "tools" uses a user name and password',
    ],
    [
      "broken-rule",
      "request: GET http://a/shop, route: shop",
      "status: 200",
      'a "request" has no "route": its URL selects one (use "route" in "expect")',
    ],
    [
      "broken-rule",
      "request: GET http://a/shop",
      "allowed: true, reason: Csrf",
      'a request with a "reason" is not "allowed"',
    ],
    ["broken-rule", "request: GET http://a/shop", "listed: [x]", '"listed" requires "list"'],
    ["unknown-field", "request: GET http://a/shop", "stauts: 200", 'expect has no field "stauts"'],
    [
      "bad-format",
      "request: /shop",
      "status: 200",
      '"request" must be a method and a URL, `GET https://shop.example.com/admin`, or `CONNECT api.example.com:443`',
    ],
  ])("%s: %s", async (code, what, expected, message) => {
    expect(await found(one(what, expected))).toEqual([`${code} 3: ${message}`]);
  });

  it("the servers of its file are those of the configuration: unknown-in-test", async () => {
    const tests =
      "servers: {fils: {tools: [a]}}\ntests: [{name: a, request: GET http://a/x, expect: {status: 404}}]\n";
    expect(await found(tests)).toEqual([
      'unknown-in-test 1: the configuration has no MCP server "fils"',
    ]);
  });

  it("its name is its own: same-test-name", async () => {
    const test = "{name: a, request: GET http://a/x, expect: {status: 404}}";
    expect(await found(`tests: [${test},\n ${test}]\n`)).toEqual([
      'same-test-name 2: another test in the file is named "a"',
    ]);
  });

  it("the route that it means is clear: unclear-test-route", async () => {
    const host = memoryHost({
      "gateway.yaml": config
        .replace("name: moved", "name: more")
        .replace(
          "policies: {requestRedirect: {path: {full: /new}, status: 301}}",
          'backends: [{mcp: {targets: [{name: m, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]',
        ),
      "a.test.yaml": "tests: [{name: a, tool: x, expect: {allowed: true}}]\n",
    });
    const checked = checkInput(["gateway.yaml"], host, false);
    const { verdicts, files } = await runTests(["a.test.yaml"], checked, host);
    const [finding] = findingsOf(verdicts[0]?.diagnostics ?? [], files, false);
    expect(finding?.code).toBe("unclear-test-route");
    expect(finding?.hint).toBe('add `route`: "tools", "more"');
  });
});
