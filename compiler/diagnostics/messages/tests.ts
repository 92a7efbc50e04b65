import { didYouMean, message } from "./message.ts";

/** What `gwc test` says of tests and of what comes of them. */
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
      "The request of the test went through the compiled gateway, and something else came out than the test expects. The " +
      "hint says what the gateway did: which policy or rule decided, or which server was asked. `gwc can` asks the same " +
      "question without a test.",
  }),
  "eras-differ": message<{ test: string; stateless: string; sessions: string }>({
    severity: "error",
    text: ({ test, stateless, sessions }) =>
      `"${test}": an MCP client without sessions is ${stateless}, one with sessions is ${sessions}`,
    hint: () => "`era: sessions` or `era: stateless` says which clients the test is about",
    explanation:
      "MCP clients of the revisions up to 2025-11-25 begin a session before they ask for anything; those of 2026-07-28 say all in " +
      "one request, and repeat parts of it in headers. A test is sent by both unless it says `era`, and what becomes of it " +
      "should not depend on the client's revision: a rule that reads headers or bodies of requests is where to look. A session is " +
      "three requests more for a limit that counts requests.",
  }),
  "unknown-in-test": message<{ what: string; name: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ what, name }) => `the configuration has no ${what} "${name}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "Tests name routes, rules and MCP servers of the configuration as they stand there; a rule by its expression, without " +
      "`deny:` or `require:` before it. A test of something that is not there could never pass, or would show nothing.",
  }),
  "unclear-test-route": message<{ what: string; routes: string; problem: string }>({
    severity: "error",
    text: ({ what, problem }) => `it is not clear which route ${what} is sent to: ${problem}`,
    hint: ({ routes }) => (routes === "" ? "send a `request`" : `say \`route\`: ${routes}`),
    explanation:
      "A test of a tool, prompt, resource, list or model is sent to the one route with such a backend. Where there are " +
      "several, the test says which is meant. Where the path of a route is a pattern, only a `request` can say which path " +
      "is meant.",
  }),
  "unoffered-item": message<{ kind: string; name: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ kind, name }) =>
      `"${name}" can't be listed: it is none of the ${kind} that the servers of the route offer`,
    hint: ({ suggestion }) =>
      didYouMean(suggestion) ?? "say what the servers offer under `servers` of the file",
    explanation:
      "No MCP server is asked in a test: a list has what `servers` says that they offer, less what rules hide. Behind several " +
      "servers, tools and prompts are called `SERVER_NAME`, and resources `SERVER+URI`.",
  }),
  "unreachable-test": message<{ url: string; ports: string }>({
    severity: "error",
    text: ({ url }) => `no listener is open for ${url}`,
    hint: ({ ports }) => `there is port ${ports}`,
    explanation:
      "The URL of a test's `request` says the port that it comes in on. Without a port that is the usual one of its scheme, " +
      "or else a port that speaks it.",
  }),
  "unused-identity": message<{ kind: string; where: string }>({
    severity: "error",
    text: ({ kind, where }) => `nothing on ${where} looks for ${kind}`,
    hint: () => "take it out of the test, or add the policy that does",
    explanation:
      "The test shows a credential that no policy of the route asks for: it says less than it seems to. What the test expects " +
      "holds for everybody.",
  }),
  "same-test-name": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `another test of the file is called "${name}"`,
    hint: () => "reports know tests by their names",
    explanation:
      "Each test of a file has a name of its own, so that a report says which one failed.",
  }),
};
