import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc test`. */
export function testPage(): Page {
  return {
    title: "gwc test: what must come out, beside the configuration",
    parts: [
      paragraph(
        "`gwc test` runs the `*.test.yaml` beside a configuration: requests, MCP calls and lists, questions to models, each " +
          "with what must come out of it. They go through the code that `gwc build` writes, in this process: about 1,000 a " +
          "second (of MCP, which clients of both eras send, 300), without a port, a server or a secret. `gwc test FILES` runs others, `-f` names another configuration, a " +
          "file or a folder of manifests.",
      ),
      { kind: "example", language: "yaml", text: FIRST },
      heading("What is sent"),
      ...table(
        ["field", "what it is"],
        [
          ["request", "`GET https://shop.example.com/admin`, with `body`"],
          ["tool, prompt, resource", "an MCP call by the name that clients use, with `arguments`"],
          ["list", "`tools`, `prompts` or `resources`"],
          [
            "era",
            "which MCP clients send it: `sessions` (revisions up to 2025-11-25) or `stateless` (2026-07-28). Without it both do, and where the " +
              "same does not come of it the test fails. One with sessions begins one (two requests before what the test sends), and ends it",
          ],
          ["model", "a question to a model, with `text`"],
          ["route", "the route of an MCP call or a question, where there are several"],
          [
            "as",
            "whose valid credentials it has: `jwt` claims, `apiKey` metadata, a `basicAuth` user. Issuer, audience and times of a " +
              "token are as the policy asks for, unless the claims say otherwise: `{sub: eve, exp: 1}` has expired",
          ],
          ["from, headers", "the client's address, and headers"],
          ["repeat", "how often it is sent; the last one counts (limits)"],
        ],
      ),
      heading("What must come out"),
      ...table(
        ["field of `expect`", "what it asks"],
        [
          ["allowed", "whether it gets through every policy"],
          [
            "status, headers, contains",
            "the response, and a part of its body; `null`: no such header",
          ],
          [
            "reason",
            "why the gateway itself answers, as the access log says it: `JwtAuth`, `Authorization`",
          ],
          [
            "rule",
            "the rule that decides, as it stands in the configuration; `gwc can` names the same",
          ],
          ["listed", "exactly what a list holds, in any order"],
          ["route", "the route that is reached"],
          [
            "backend",
            "the request that the server gets: `server`, `path`, `headers`, `contains`; of several that are asked `server` says which, " +
              "or it is the last",
          ],
        ],
      ),
      paragraph(
        "Servers are stood in for. MCP servers offer what `servers` of the file says, and take every call. Models say `ok` in " +
          "their provider's format. All others respond 200, or what `response` of the test says (`status`, `headers`, `body`). " +
          "What asks by gRPC (external authorization and processing, rate limit services) is told to go on. Variables that " +
          "are not set and files that are not there don't matter. Each test begins with untouched limits. A choice by weight is as " +
          "random as it is when it serves; nothing is upgraded to another protocol.",
      ),
      heading("What no test touches"),
      paragraph(
        "`--coverage` names the routes that no test reaches, the policies that none passes, and the rules that decide none. A " +
          "test that names a route, rule or server that is not there, or a credential that nothing asks for, is a mistake: " +
          "it could not fail, or not pass.",
      ),
      heading("In a pull request"),
      paragraph(
        "Under GitHub Actions what fails stands at its line without any option; `--format junit` is for other CI. Exit code 0: " +
          "every test passes; 1: one fails, or the files have mistakes; 2: there is no test.",
      ),
      { kind: "example", language: "yaml", text: WORKFLOW },
    ],
  };
}

const FIRST = `# yaml-language-server: $schema=tests.schema.json   (gwc schema --tests > tests.schema.json)
servers:
  files: {tools: [read, delete_all]}
tests:
  - name: developers don't see what deletes
    as: {jwt: {sub: eve, roles: [dev]}}
    list: tools
    expect: {listed: [read]}
  - name: what deletes is denied, to admins too
    as: {jwt: {sub: root, roles: [admin]}}
    tool: delete_all
    expect: {allowed: false, rule: mcp.tool.name == "delete_all"}
  - name: the shop learns who asks, and gets no token
    as: {jwt: {sub: eve}}
    request: GET https://shop.example.com/cart
    expect:
      status: 200
      backend: {headers: {x-user: eve, authorization: null}}`;

const WORKFLOW = `name: Gateway
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - run: npx gwc test --coverage`;
