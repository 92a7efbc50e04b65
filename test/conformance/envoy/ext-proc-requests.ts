import { type OracleRequest, option, rawOption } from "./oracle-request.ts";

type Request = Omit<OracleRequest, "name">;

const duplex: Request = { setup: "duplex" };
const buffered: Request = { setup: "buffered" };
const streamed: Request = { setup: "streamed", method: "POST", body: "hello" };
const partial: Request = { setup: "partial", method: "POST", body: "hello" };
const call = {
  method: "POST",
  headers: { "content-type": "application/grpc", te: "trailers" },
  body: "\0\0\0\0\0",
};
const none: Request = { setup: "none" };
const override: Request = { setup: "override" };

/** With a trailer. */
const summed = { method: "POST", body: "hello", trailers: { "x-sum": "42" } };
const trailersSet = {
  request_trailers: {
    request_trailers: {
      header_mutation: { set_headers: [rawOption("x-sum", "43"), rawOption("x-more", "1")] },
    },
  },
};

/** Requests by what they show, each with what the processor says by phase. */
const scripts: Readonly<Record<string, readonly [script: object, request: Request]>> = {
  // Contents of the messages.
  "a plain request": [{}, none],
  "a query": [{}, { ...none, path: "/a/b?c=d&e=%20f" }],
  "a HEAD request": [{}, { ...none, method: "HEAD" }],
  "a POST request": [{}, { ...none, method: "POST", body: "hello" }],
  "a header twice": [{}, { ...none, headers: { "x-some": ["1", "2"] } }],
  "an empty header": [{}, { ...none, headers: { "x-some": "" } }],
  "no body, piece by piece": [{}, duplex],
  "a body, piece by piece": [{}, { ...duplex, method: "POST", body: "hello" }],
  "a HEAD request, piece by piece": [{}, { ...duplex, method: "HEAD" }],
  "no body, whole": [{}, buffered],
  "a body, whole": [{}, { ...buffered, method: "POST", body: "hello" }],
  "an empty body, whole": [{}, { ...buffered, method: "POST", body: "" }],
  "a HEAD request, whole": [{}, { ...buffered, method: "HEAD" }],
  "no body, each piece with a response": [{}, { setup: "streamed" }],
  "a body, each piece with a response": [{}, streamed],
  "no body, of which the beginning would do": [{}, { setup: "partial" }],
  "a body of which the beginning would do": [{}, partial],
  // Heads of requests
  "a new header": [request({ set_headers: [rawOption("x-new", "1")] }), none],
  "a new header as text": [request({ set_headers: [option("x-new", "1")] }), none],
  "a header that is there": [request({ set_headers: [rawOption("x-some", "new")] }), some()],
  "a header that is appended": [
    request({ set_headers: [rawOption("x-some", "new", { append: true })] }),
    some(),
  ],
  "a header that is not appended": [
    request({ set_headers: [rawOption("x-some", "new", { append: false })] }),
    some(),
  ],
  "a header that overwrites": [
    request({
      set_headers: [rawOption("x-some", "new", { append_action: "OVERWRITE_IF_EXISTS_OR_ADD" })],
    }),
    some(),
  ],
  "a header added only if absent, and it is there": [
    request({ set_headers: [rawOption("x-some", "new", { append_action: "ADD_IF_ABSENT" })] }),
    some(),
  ],
  "a header overwritten only if there, and it is not": [
    request({
      set_headers: [rawOption("x-some", "new", { append_action: "OVERWRITE_IF_EXISTS" })],
    }),
    none,
  ],
  "two headers of one name": [
    request({ set_headers: [rawOption("x-new", "1"), rawOption("x-new", "2")] }),
    none,
  ],
  "an empty value": [request({ set_headers: [rawOption("x-some", "")] }), some()],
  "upper case in a name": [request({ set_headers: [rawOption("X-New", "1")] }), none],
  "a removed header": [request({ remove_headers: ["x-some"] }), some()],
  "a header removed and set": [
    request({ remove_headers: ["x-some"], set_headers: [rawOption("x-some", "new")] }),
    some(),
  ],
  "host and pseudo headers removed": [
    request({ remove_headers: ["host", ":path", ":method"] }),
    none,
  ],
  "another path": [request({ set_headers: [rawOption(":path", "/elsewhere")] }), none],
  "another method": [request({ set_headers: [rawOption(":method", "PUT")] }), none],
  "another authority": [request({ set_headers: [rawOption(":authority", "no.test")] }), none],
  "another host": [request({ set_headers: [rawOption("host", "no.test")] }), none],
  // Heads of responses
  "a new header of the response": [response({ set_headers: [rawOption("x-new", "1")] }), none],
  "a header of the response that is there": [
    response({ set_headers: [rawOption("x-from", "server")] }),
    none,
  ],
  "a header of the response that overwrites": [
    response({
      set_headers: [rawOption("x-from", "server", { append_action: "OVERWRITE_IF_EXISTS_OR_ADD" })],
    }),
    none,
  ],
  "a header of the response only if absent": [
    response({ set_headers: [rawOption("x-from", "server", { append_action: "ADD_IF_ABSENT" })] }),
    none,
  ],
  "a removed header of the response": [response({ remove_headers: ["x-from"] }), none],
  "another status": [statuses("201"), none],
  ...Object.fromEntries(
    ["0x194", "4e2", "404.0", "4 04", "100", "199", "1", "two", ""].map((status) => [
      `the status "${status}", which is invalid`,
      [statuses(status), none] as const,
    ]),
  ),
  ...Object.fromEntries(
    ["+404", " 404", "0404", "600"].map((status) => [
      `the status "${status}", which HTTP does not have`,
      [statuses(status), none] as const,
    ]),
  ),
  "an invalid status, and another": [statuses("403", "no", "404"), none],
  "changes of both heads, piece by piece": [
    {
      ...request({ set_headers: [rawOption("x-new", "1")] }),
      ...response({ set_headers: [rawOption("x-new", "2")] }),
    },
    { ...duplex, method: "POST", body: "hello" },
  ],
  // Bodies
  "another body": [body("request_body", "changed"), { ...buffered, method: "POST", body: "hello" }],
  "another body of the same length": [
    body("request_body", "HELLO"),
    { ...buffered, method: "POST", body: "hello" },
  ],
  "no body any more": [
    { request_body: { request_body: { response: { body_mutation: { clear_body: true } } } } },
    { ...buffered, method: "POST", body: "hello" },
  ],
  "headers with the body": [
    {
      request_body: {
        request_body: {
          response: { header_mutation: { set_headers: [rawOption("x-new", "1")] } },
        },
      },
    },
    { ...buffered, method: "POST", body: "hello" },
  ],
  "another body of the response": [body("response_body", "changed"), buffered],
  "headers with the body of the response": [
    {
      response_body: {
        response_body: {
          response: { header_mutation: { set_headers: [rawOption("x-new", "1")] } },
        },
      },
    },
    buffered,
  ],
  "another body, piece by piece": [
    { request_body: { at_end: "changed" } },
    { ...duplex, method: "POST", body: "hello" },
  ],
  "another body of the response, piece by piece": [
    { response_body: { at_end: "changed" } },
    duplex,
  ],
  "another piece": [body("request_body", "changed"), streamed],
  "another piece of the response": [body("response_body", "changed"), streamed],
  "another beginning": [body("request_body", "HELLO"), partial],
  "another beginning of the response": [body("response_body", "changed"), partial],
  "a body that replaces the client's": [
    {
      request_headers: {
        request_headers: {
          response: {
            status: "CONTINUE_AND_REPLACE",
            header_mutation: { set_headers: [rawOption("content-length", "4")] },
            body_mutation: { body: btoa("mine") },
          },
        },
      },
    },
    { ...buffered, method: "POST", body: "hello" },
  ],
  "a body that replaces the upstream's": [
    {
      response_headers: {
        response_headers: {
          response: { status: "CONTINUE_AND_REPLACE", body_mutation: { body: btoa("mine") } },
        },
      },
    },
    buffered,
  ],
  // Trailers
  "trailers that nobody wants": [{}, { ...none, ...summed }],
  "trailers after a streamed body": [{}, { setup: "trailing", ...summed }],
  "trailers behind a whole body": [{}, { setup: "trailingWhole", ...summed }],
  "trailers behind pieces with a response each": [{}, { setup: "trailingPieces", ...summed }],
  "trailers behind pieces": [{}, { ...duplex, ...summed }],
  "other trailers": [trailersSet, { setup: "trailing", ...summed }],
  "other trailers behind a whole body": [trailersSet, { setup: "trailingWhole", ...summed }],
  "other trailers behind pieces": [trailersSet, { ...duplex, ...summed }],
  // Modes
  "a body asked for by override": [
    {
      request_headers: { request_headers: {}, mode_override: { request_body_mode: "BUFFERED" } },
      ...body("request_body", "changed"),
    },
    { ...override, method: "POST", body: "hello" },
  ],
  "an override that is not allowed": [
    { request_headers: { request_headers: {}, mode_override: { request_body_mode: "BUFFERED" } } },
    { ...none, method: "POST", body: "hello" },
  ],
  "a body of the response asked for by override": [
    {
      response_headers: { response_headers: {}, mode_override: { response_body_mode: "BUFFERED" } },
      ...body("response_body", "changed"),
    },
    override,
  ],
  "no head of the response, by override": [
    {
      request_headers: { request_headers: {}, mode_override: { response_header_mode: "SKIP" } },
    },
    override,
  ],
  // Responses of its own
  "a response at the request": [
    immediate("request_headers", { status: { code: "Forbidden" } }),
    none,
  ],
  "a response with a body": [
    immediate("request_headers", { status: { code: "OK" }, body: btoa("mine") }),
    none,
  ],
  "a response with headers": [
    immediate("request_headers", {
      status: { code: "Found" },
      headers: { set_headers: [rawOption("location", "/login")] },
    }),
    none,
  ],
  "a response with two cookies": [
    immediate("request_headers", {
      headers: { set_headers: [rawOption("set-cookie", "a=b"), rawOption("set-cookie", "c=d")] },
    }),
    none,
  ],
  "a response without a status": [immediate("request_headers", { body: btoa("mine") }), none],
  "a response at the body": [
    immediate("request_body", { status: { code: "PayloadTooLarge" } }),
    { ...buffered, method: "POST", body: "hello" },
  ],
  "a response at the response": [
    immediate("response_headers", { status: { code: "BadGateway" }, body: btoa("mine") }),
    none,
  ],
  "a response at the body of the response": [
    immediate("response_body", { status: { code: "BadGateway" }, body: btoa("mine") }),
    buffered,
  ],
  // Failures
  "a response to a call of gRPC": [
    immediate("request_headers", {
      status: { code: 403 },
      body: btoa("not you"),
      headers: { set_headers: [rawOption("x-why", "1")] },
    }),
    { ...none, ...call },
  ],
  "a response to a call of gRPC with a status of its own": [
    immediate("request_headers", {
      status: { code: 403 },
      grpc_status: { status: 8 },
      body: btoa("later"),
    }),
    { ...none, ...call },
  ],
  "a response at the response of a call of gRPC": [
    immediate("response_headers", { status: { code: 503 }, body: btoa("later") }),
    { ...none, ...call },
  ],
  "a response without content": [immediate("request_headers", { status: { code: 204 } }), none],
  "an error at the request": [{ request_headers: { abort: "INTERNAL" } }, none],
  "an error at the response": [{ response_headers: { abort: "INTERNAL" } }, none],
  "an end at the request": [{ request_headers: { end: true } }, none],
  "an end at the response": [{ response_headers: { end: true } }, none],
};

/** Requests that a processor sees. */
export const extProcRequests: readonly OracleRequest[] = Object.entries(scripts).map(
  ([name, [script, { headers, ...rest }]]) => ({
    name,
    ...rest,
    headers: { "x-process": JSON.stringify(script), ...headers },
  }),
);

function some(): Request {
  return { ...none, headers: { "x-some": "old" } };
}

function request(mutation: object): object {
  return { request_headers: { request_headers: { response: { header_mutation: mutation } } } };
}

function response(mutation: object): object {
  return { response_headers: { response_headers: { response: { header_mutation: mutation } } } };
}

function statuses(...all: readonly string[]): object {
  return response({ set_headers: all.map((status) => rawOption(":status", status)) });
}

function body(phase: "request_body" | "response_body", text: string): object {
  return { [phase]: { [phase]: { response: { body_mutation: { body: btoa(text) } } } } };
}

function immediate(phase: string, reply: object): object {
  return { [phase]: { immediate_response: reply } };
}
