import { heading, type Page, paragraph, table } from "./page.ts";

/** The page of the two eras of MCP: who reaches whom, by what means, and what cannot be. */
export function erasPage(): Page {
  return {
    title: "Eras of MCP",
    parts: [
      paragraph(
        "MCP has revisions with sessions (2025-03-26, 2025-06-18, 2025-11-25) and a stateless one (2026-07-28). Each request says of itself which it is part of, " +
          "and each target shows which it speaks: a gateway serves clients of both eras by targets of both, also when several targets behind one route differ.",
      ),
      ...table(
        ["client", "target", "what happens"],
        [
          [
            "sessions",
            "sessions",
            "passed on in the client's session; over stdio and SSE the gateway has the connection",
          ],
          ["stateless", "stateless", "passed on, unread where no rule reads it"],
          [
            "sessions",
            "stateless",
            "the gateway keeps the session: `initialize` is a discovery, and what the client said of itself goes along with every request",
          ],
          [
            "stateless",
            "sessions",
            "the gateway opens sessions with the target and leases each to one request at a time: to one identity for a minute, to a caller without identity for one request. Over stdio that is a process each, so a child that has only listed what it offers serves the next such caller, too, and its first call is its last: let callers show who they are",
          ],
        ],
      ),
      heading("How the era of a target is known"),
      paragraph(
        "A client that opens a session is offered to the target as it is; a target that refuses it with -32022 has no sessions. For a stateless client the target is asked once by " +
          "`server/discover`. What a target speaks holds until it refuses it, what it does not speak for 5 minutes; a refusal for want of credentials, a 5xx and a broken connection say nothing. " +
          "`era: sessions` or `era: stateless` of the target (`Sessions`, `Stateless` in manifests) says it in advance.",
      ),
      heading("A client with sessions at a stateless target"),
      ...table(
        ["what", "how"],
        [
          [
            "sampling, elicitation, roots",
            "what the target needs becomes requests on the stream of the client's own request; it is called again with the answers, at most 8 times",
          ],
          [
            "changes of lists and resources",
            "one subscription for each target, as wide as the client's",
          ],
          ["log messages", "the level that the client has set goes along"],
          [
            "output that is no object",
            "wrapped as `result`, with its schema: such clients refuse a list that has it",
          ],
          ["arguments in headers", "`Mcp-Param-` headers are made of the tool's schema"],
          ["cache hints", "nobody reads them"],
        ],
      ),
      heading("A stateless client at a target with sessions"),
      ...table(
        ["what", "how"],
        [
          [
            "sampling, elicitation, roots",
            "what the target asks ends the request with `input_required` and a sealed `requestState`; the call waits at the target, 10 minutes at most",
          ],
          [
            "changes of lists and resources",
            "each subscription has a session of its own, whose stream says what has changed",
          ],
          ["log messages", "the level of a request is set in its session"],
          ["progress", "under the token of the request that waits now"],
          ["cancellation", "the target is told, and the session ends"],
          ["cache hints", "good for now, and for this client alone"],
          ["a URL that the user has to open", "`input_required`, where the client can"],
        ],
      ),
      heading("What is not, and what the client gets"),
      ...table(
        ["what", "the client gets"],
        [
          ["tasks of sessions, at a stateless target", "-32601"],
          ["tools that run as tasks only, for a stateless client", "they are not listed"],
          [
            "what a target asks outside of a call, prompt or read, or of a client that can't",
            "the target gets -32601",
          ],
          [
            "an answer that reaches another replica, or comes after a restart, or twice",
            "-32602: call again; nothing is run twice",
          ],
          ["a state of another caller, target or request", "-32602"],
          ["more calls that wait than `sessions.max`, or than one caller's share of them", "503"],
          ["resumption (`Last-Event-ID`) of a stream that the gateway makes", "a new stream"],
          ["headers that say something else than the body, where rules read it", "400, -32020"],
          ["another revision", "400, -32022 with those that are served"],
          ["a client that says more of itself in `_meta` than 65,536 characters", "-32602"],
        ],
      ),
      heading("Without sessions"),
      paragraph(
        "`statefulMode: stateless` (`sessionRouting: Stateless` in manifests) keeps no sessions for clients that know them: `initialize` is answered without an `Mcp-Session-Id`, and each request that follows " +
          "opens a session with every target that it goes to (a process over stdio), without abilities of the client, and ends it. Any replica serves any request, without a common `SESSION_KEY`. " +
          "GET and DELETE are 405; `logging`, `tasks`, subscriptions and changes of lists are not offered, and -32601 when they are asked for; what a target asks a client gets -32601. " +
          "Targets without sessions are asked as they are. Stateless clients are served as ever, but nothing is leased: sessions with targets end with the request that opened them.",
      ),
      heading("What is the same for both"),
      paragraph(
        "Rules of `mcpAuthorization` decide by the request's body, never by its headers, and what is listed is what can be called. Names of several targets have their prefix in both eras. " +
          "States, sessions and session ids are bound to route, targets and identity, and sealed by `SESSION_KEY`; states to what was asked for, too, for 10 minutes.",
      ),
      paragraph(
        "What rules refuse is unknown, as if it were not there. One thing is said beside that: where `mcpAuthentication` stands and a verified token lacks nothing but scopes that `require` rules " +
          "ask for, it is 403 with `insufficient_scope` and the scopes that would do. The rules alone decide it: it is said of a name that no server has, too, and never to who shows no token.",
      ),
      heading("How it is seen"),
      paragraph(
        "A request's log line says `mcp.era` of the client and `mcp.target.era`: `sessions`, `stateless`, or `both` where several targets differ. `gwc_mcp_eras_total` counts them, " +
          "`gwc_mcp_waiting_calls` the calls that wait for what their clients were asked.",
      ),
    ],
  };
}
