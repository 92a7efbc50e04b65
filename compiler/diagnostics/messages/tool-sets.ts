import { message } from "./message.ts";

/** Diagnostics about tools of MCP servers as clients see them. */
export const toolSetMessages = {
  "bad-tool-view": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => problem,
    explanation:
      "An entry of `tools` names a target and one of its tools. Each tool has one entry, and each name for clients belongs to " +
      "one tool, so that a call means the same to the gateway and to its clients. Tools and arguments of OpenAPI documents and " +
      "of a lock are known before the gateway runs. The same holds within each view of `views`, whose names have at most 64 " +
      "characters, because models refuse longer ones.",
  }),
  "unreached-view": message<{ view: string }>({
    severity: "warning",
    text: ({ view }) =>
      `no request can choose the view "${view}": no path of its route ends with "/${view}"`,
    hint: () => "match all paths below the endpoint: path: { pathPrefix: /mcp }",
    explanation:
      "The last segment of the path chooses a view. A route that only matches a path with another end never gets requests for " +
      "the view, so its clients see all tools. A prefix also matches the paths of views.",
  }),
  "views-without-prefixes": message<{ field: "tools" | "views" }>({
    severity: "error",
    text: ({ field }) => `"${field}" cannot be combined with prefixMode: never and several targets`,
    hint: ({ field }) =>
      field === "tools"
        ? "remove `prefixMode`, and give the tools names in `tools`"
        : "remove `prefixMode`, and write prefix: false in the views",
    explanation:
      "Without prefixes, a name belongs to the first target that lists it, which can change while the gateway runs. An entry of " +
      "`tools` is about one tool of one target.",
  }),
  "tool-of-gateway": message<{ item: string; name: string }>({
    severity: "warning",
    text: ({ item, name }) =>
      `clients do not see the ${item} of this target, because "${name}" is a tool of the gateway`,
    hint: () => "give the gateway's tools other names in `toolSearch.names`",
    explanation:
      "With `toolSearch`, the gateway offers tools of its own, by default `search_tools`, `describe_tool` and `call_tool`. A " +
      "tool of a server with one of these names cannot be called. Known before the gateway runs are the tools of OpenAPI " +
      "documents and of a tool lock; for others, the gateway warns when it sees them.",
  }),
};
