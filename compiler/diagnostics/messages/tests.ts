import { didYouMean, message } from "./message.ts";

/** Diagnostics of `gwc test`. */
export const testMessages = {
  "unmet-expectation": message<{
    test: string;
    client: string | undefined;
    what: string;
    found: string;
    expected: string;
    why: string | undefined;
  }>({
    severity: "error",
    text: ({ test, client, what, found, expected }) =>
      `"${test}": ${what} is ${found}${client === undefined ? "" : ` ${client}`}, expected ${expected}`,
    hint: ({ why }) => why,
    explanation:
      "The request of the test went through the compiled gateway with a different result than expected. The hint shows " +
      "which policy or rule decided, or which server was called. `gwc can` answers the same question without a test.",
  }),
  "eras-differ": message<{ test: string; stateless: string; sessions: string }>({
    severity: "error",
    text: ({ test, stateless, sessions }) =>
      `"${test}": an MCP client without sessions is ${stateless}, one with sessions is ${sessions}`,
    hint: () => "add `era: sessions` or `era: stateless` to limit the test to one kind of client",
    explanation:
      "MCP clients up to revision 2025-11-25 start a session first; clients of 2026-07-28 send everything in one " +
      "request and repeat parts of it in headers. Unless a test sets `era`, it runs with both, and the result should " +
      "not depend on the client's revision: look for a rule that reads headers or bodies of requests. For a limit that " +
      "counts requests, a session is three more requests.",
  }),
  "unknown-in-test": message<{ what: string; name: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ what, name }) => `the configuration has no ${what} "${name}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "Tests refer to routes, rules and MCP servers by their names in the configuration, and to a rule by its " +
      "expression, without `deny:` or `require:`. A test of something that does not exist could never pass, or would " +
      "prove nothing.",
  }),
  "unclear-test-route": message<{ what: string; routes: string; problem: string }>({
    severity: "error",
    text: ({ what, problem }) => `the route of ${what} is ambiguous: ${problem}`,
    hint: ({ routes }) => (routes === "" ? "use a `request`" : `add \`route\`: ${routes}`),
    explanation:
      "A test of a tool, prompt, resource, list or model is sent to the route with such a backend. If there are " +
      "several, the test must name one. If the path of a route is a pattern, use a `request` to specify the path.",
  }),
  "unoffered-item": message<{ kind: string; name: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ kind, name }) =>
      `"${name}" cannot be listed: the servers of the route do not offer it among their ${kind}`,
    hint: ({ suggestion }) =>
      didYouMean(suggestion) ?? "add what the servers offer under `servers` in the test file",
    explanation:
      "Tests do not call MCP servers: lists contain what `servers` declares, except for what rules hide. With several " +
      "servers, tools and prompts are named `SERVER_NAME`, and resources `SERVER+URI`.",
  }),
  "unreachable-test": message<{ url: string; ports: string }>({
    severity: "error",
    text: ({ url }) => `no listener is open for ${url}`,
    hint: ({ ports }) => `open ports: ${ports}`,
    explanation:
      "The URL of a test's `request` contains the port. Without a port, it is the default port of its scheme, or else " +
      "a port that uses that scheme.",
  }),
  "unused-identity": message<{ kind: string; where: string }>({
    severity: "error",
    text: ({ kind, where }) => `no policy on ${where} uses ${kind}`,
    hint: () => "remove it from the test, or add a policy that uses it",
    explanation:
      "The test sends a credential that no policy of the route uses, so it proves less than it seems to: the result is " +
      "the same for everyone.",
  }),
  "same-test-name": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `another test in the file is named "${name}"`,
    hint: () => "rename one of them: reports identify tests by name",
    explanation: "Test names are unique within a file so that a report identifies the failed one.",
  }),
};
