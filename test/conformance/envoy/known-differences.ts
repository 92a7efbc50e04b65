import type { KnownDifference } from "./differences.ts";

/** Differences of every exchange, for all kinds of callouts. */
const anyExchange: readonly KnownDifference[] = [
  { at: /headers\.date\./, reason: "Each response has its own time." },
  {
    at: /headers\.x-forwarded-proto\b/,
    reason: "Envoy says the client's scheme in a header of its own.",
  },
  {
    at: /^upstream\.0\.headers\.connection\./,
    reason: "The gateway says what HTTP/1.1 takes for granted.",
  },
  {
    at: /headers\.(content-length|transfer-encoding)\./,
    reason: "Each frames messages as it likes: bodies are compared, not how they are announced.",
  },
];

/** The gateway's own refusals say what failed, in words that name nothing. */
function ownRefusal(...requests: readonly string[]): KnownDifference {
  return {
    at: /^client\.(body|headers\.content-type\.)/,
    requests,
    reason:
      "The gateway's own refusals are a line of plain text; Envoy's have no body, or another.",
  };
}

/** The differences from Envoy that are as they should be, by policy. */
export const knownDifferences: Readonly<
  Record<"extAuthz" | "extProc" | "remoteRateLimit", readonly KnownDifference[]>
> = {
  extAuthz: [
    ...anyExchange,
    {
      at: /^asked\.0\.attributes\.(source|destination)\.address\.socket_address\.port_value$/,
      reason: "Each has ports of its own.",
    },
    {
      at: /^asked\.0\.attributes\.request\.(time|http\.id)$/,
      reason: "Each request has its own time and name.",
    },
    {
      at: /^asked\.0\.attributes\.request\.http\.headers\.(x-some|cookie)$/,
      requests: ["a header twice", "cookies in two fields"],
      reason:
        "Fields of one name are joined as RFC 9110 5.3 and RFC 6265 5.4 write it; a cookie that Envoy joins by a comma can't be read.",
    },
    {
      at: /^asked\.0\.attributes\.request\.http\.size$/,
      requests: ["the beginning of a body"],
      reason: "A body that is not whole is of unknown size, -1 as the protocol has it.",
    },
    ownRefusal("a body that is too long", "a refusal", "an error of the server"),
    {
      at: /^client\.headers\.grpc-message\./,
      requests: ["no verdict on a call of gRPC"],
      reason: "The gateway's own refusals say what failed, in words that name nothing.",
    },
    {
      at: /^client\.headers\.grpc-message\./,
      requests: ["a refusal of a call of gRPC with a status"],
      reason: "No words are an empty message, which gRPC has mean the same as none.",
    },
    {
      at: /^client\.headers\.grpc-status\./,
      requests: ["a refusal of a call of gRPC with a status"],
      reason: "Too many requests are RESOURCE_EXHAUSTED (8), not a service that is away (14).",
    },
    {
      at: /^upstream\.0\.headers\.x-new\./,
      requests: ["a header with its bytes"],
      reason: "A value is taken from either of its fields; Envoy overlooks raw_value here.",
    },
    {
      at: /^upstream\.0\.headers\.x-some\./,
      requests: ["a header that is appended"],
      reason: "An appended value is a field of its own, which RFC 9110 5.3 makes the same.",
    },
    {
      at: /^upstream\.0\.headers\.x-new\./,
      requests: ["two headers of one name that are appended"],
      reason: "A header that is appended to a missing one is added; Envoy drops it.",
    },
    {
      at: /^upstream\.0\.headers\.x-some\./,
      requests: [
        "a header added only if absent, and it is there",
        "a header overwritten only if there, and it is not",
      ],
      reason: "append_action holds for the request too; Envoy overlooks it and overwrites.",
    },
    {
      at: /^upstream\.0\.headers\.x-some\./,
      requests: ["a header removed and set"],
      reason: "Removals come first, so that a server can replace all other headers.",
    },
    {
      at: /^upstream\.0\.(url|method|headers\.host)/,
      requests: ["another path", "another method", "another authority", "another host"],
      reason: "What was authorized is what is sent on: no server changes where a request goes.",
    },
    {
      at: /^upstream\.0\.url$/,
      requests: ["a parameter removed that is written in escapes"],
      reason: "A parameter is removed however its name is written: the backend reads them all.",
    },
    {
      at: /^upstream\.0\.url$/,
      requests: ["a parameter that is there"],
      reason: "Other parameters stay as they are; Envoy sorts all of them by name.",
    },
  ],
  extProc: [
    ...anyExchange,
    {
      at: /^asked\.\d\.request_headers\.values\.:|^asked\.\d\.response_headers\.values\.:status$/,
      reason: "Pseudo headers are in value as well, for servers that read them there.",
    },
    {
      at: /^asked\.\d\.response_headers\.headers\.connection\./,
      reason: "What belongs to the connection with the upstream is nobody else's.",
    },
    ownRefusal("an error at the request", "an error at the response"),
    {
      at: /^upstream\.0\.headers\.te\./,
      requests: ["a response at the response of a call of gRPC"],
      reason: "TE is about the client's own connection (RFC 9110 10.1.4).",
    },
    {
      at: /^(asked\.\d\.response_body|client\.body)/,
      requests: [
        "no body, each piece with a response",
        "a body, each piece with a response",
        "another piece",
        "another piece of the response",
        "trailers behind pieces with a response each",
      ],
      reason:
        "The upstream's response is chunked: whether its end is known with the last piece, or comes as an empty one, is a matter of time.",
    },
    {
      at: /^upstream\.0\.headers\.x-new\./,
      requests: ["a new header as text"],
      reason: "A value is taken from either of its fields; Envoy overlooks value here.",
    },
    {
      at: /^upstream\.0\.headers\.x-some\./,
      requests: [
        "a header added only if absent, and it is there",
        "a header overwritten only if there, and it is not",
      ],
      reason: "append_action holds; Envoy overlooks it and overwrites.",
    },
    {
      at: /^client\.headers\.x-from\./,
      requests: ["a header of the response only if absent"],
      reason: "append_action holds; Envoy overlooks it and overwrites.",
    },
    {
      at: /^client\.status$/,
      requests: ["+404", " 404", "0404", "600"].map(
        (status) => `the status "${status}", which HTTP does not have`,
      ),
      reason: "A status is three digits, from 200 to 599 (RFC 9110 15); Envoy takes any number.",
    },
    {
      at: /^client\.headers\.set-cookie\./,
      requests: ["a response with two cookies"],
      reason: "A response that a processor gives has all its cookies; Envoy keeps the last.",
    },
    {
      at: /^upstream\.0\.url$/,
      requests: ["another path"],
      reason: "What was authorized is what is sent on: no server changes where a request goes.",
    },
    {
      at: /^(client|upstream\.0|asked\.[23])\b/,
      requests: ["another body", "no body any more", "a body asked for by override"],
      reason:
        "The gateway announces the length of the body that it sends; Envoy fails when a processor changes a body and not its Content-Length.",
    },
    {
      at: /^(client|upstream\.0)\b/,
      requests: ["an end at the request", "an end at the response"],
      reason:
        "A processor that leaves without a response has failed, and failureMode says what then; Envoy lets the request pass unseen.",
    },
  ],
  remoteRateLimit: [
    ...anyExchange,
    {
      at: /^client\.headers\.x-ratelimit-limit\./,
      reason:
        "The limit is a number; Envoy adds windows as an early draft of RateLimit headers did.",
    },
    {
      at: /^asked\.0\.descriptors\.\d\.hits_addend$/,
      reason: "Each descriptor says what it counts, as descriptors of tokens do; absent means 1.",
    },
    {
      at: /^client\.headers\.x-envoy-ratelimited\./,
      reason: "It has Envoy's name.",
    },
    {
      at: /^client\.(body|headers\.(content-type|retry-after)\.)/,
      reason: "The gateway's refusal is a line of plain text, and says when to come again.",
    },
    {
      at: /^(client|upstream\.0)\b/,
      requests: ["no verdict"],
      reason:
        "Neither yes nor no is a failure, and failureMode says what then; Envoy lets it pass.",
    },
    {
      at: /^upstream\.0\.(url|headers\.host\.)/,
      requests: ["another path", "another host"],
      reason: "What was authorized is what is sent on; Envoy writes `/path,/no`.",
    },
    {
      at: /^upstream\.0\.headers\.x-left\./,
      requests: ["a header of the request with bytes"],
      reason: "A value is taken from either of its fields; Envoy overlooks raw_value here.",
    },
    {
      at: /^client\.headers\.x-ratelimit-reset\./,
      requests: ["a limit without an end"],
      reason: "Nobody knows when it is reset; Envoy says at once.",
    },
  ],
};
