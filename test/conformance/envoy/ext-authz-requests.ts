import { type OracleRequest, option, rawOption } from "./oracle-request.ts";

type Request = Omit<OracleRequest, "name" | "setup"> & { readonly setup?: string };

/** Requests by what they show, each with the server's verdict. */
const verdicts: Readonly<Record<string, readonly [verdict: object, request?: Request]>> = {
  // Contents of the check request.
  "a plain request": [{}],
  "a query": [{}, { path: "/a/b?c=d&e=%20f" }],
  "escapes in the path": [{}, { path: "/a;c=d/%C3%A9" }],
  "a HEAD request": [{}, { method: "HEAD" }],
  "a DELETE request": [{}, { method: "DELETE" }],
  "an OPTIONS request": [{}, { method: "OPTIONS" }],
  "a PATCH request with a body": [{}, { method: "PATCH", body: "abc" }],
  "a header twice": [{}, { headers: { "x-some": ["1", "2"] } }],
  "cookies in two fields": [{}, { headers: { cookie: ["a=b", "c=d"] } }],
  "an empty header": [{}, { headers: { "x-some": "" } }],
  credentials: [{}, { headers: { authorization: "Bearer abc" } }],
  "a header of 8 kB": [{}, { headers: { "x-some": "v".repeat(8192) } }],
  "fifty headers": [
    {},
    { headers: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x-h${i}`, `v${i}`])) },
  ],
  "a header in UTF-8": [{}, { headers: { "x-some": utf8("café ☕") } }],
  // The body
  "no body where bodies are asked for": [{}, { setup: "body" }],
  "a body": [{}, { setup: "body", method: "POST", body: "12345678" }],
  "an empty body": [{}, { setup: "body", method: "POST", body: "" }],
  "a body that is too long": [{}, { setup: "body", method: "POST", body: "123456789" }],
  "a body of many bytes": [{}, { setup: "body", method: "POST", body: "é€" }],
  "the beginning of a body": [{}, { setup: "beginning", method: "POST", body: "123456789" }],
  "a whole body where beginnings are enough": [
    {},
    { setup: "beginning", method: "POST", body: "1234" },
  ],
  "a body as bytes": [{}, { setup: "bytes", method: "POST", body: "1234" }],
  // Changes of the request
  "a new header": [ok({ headers: [option("x-new", "1")] })],
  "a header with its bytes": [ok({ headers: [rawOption("x-new", "1")] })],
  "a header that is there": [ok({ headers: [option("x-some", "new")] }), some()],
  "a header that is appended": [
    ok({ headers: [option("x-some", "new", { append: true })] }),
    some(),
  ],
  "a header that is not appended": [
    ok({ headers: [option("x-some", "new", { append: false })] }),
    some(),
  ],
  "a header that overwrites": [
    ok({ headers: [option("x-some", "new", { append_action: "OVERWRITE_IF_EXISTS_OR_ADD" })] }),
    some(),
  ],
  "a header added only if absent, and it is there": [
    ok({ headers: [option("x-some", "new", { append_action: "ADD_IF_ABSENT" })] }),
    some(),
  ],
  "a header added only if absent, and it is": [
    ok({ headers: [option("x-some", "new", { append_action: "ADD_IF_ABSENT" })] }),
  ],
  "a header overwritten only if there, and it is not": [
    ok({ headers: [option("x-some", "new", { append_action: "OVERWRITE_IF_EXISTS" })] }),
  ],
  "a header overwritten only if there, and it is": [
    ok({ headers: [option("x-some", "new", { append_action: "OVERWRITE_IF_EXISTS" })] }),
    some(),
  ],
  "two headers of one name": [ok({ headers: [option("x-new", "1"), option("x-new", "2")] })],
  "two headers of one name that are appended": [
    ok({
      headers: [option("x-new", "1", { append: true }), option("x-new", "2", { append: true })],
    }),
  ],
  "a value in UTF-8": [ok({ headers: [option("x-new", "café")] })],
  "an empty value": [ok({ headers: [option("x-some", "")] }), some()],
  "upper case in a name": [ok({ headers: [option("X-New", "1")] })],
  "a removed header": [ok({ headers_to_remove: ["x-some"] }), some()],
  "a removed header in upper case": [ok({ headers_to_remove: ["X-Some"] }), some()],
  "a header removed and set": [
    ok({ headers: [option("x-some", "new")], headers_to_remove: ["x-some"] }),
    some(),
  ],
  "host and pseudo headers removed": [ok({ headers_to_remove: ["host", ":path", ":method"] })],
  "another path": [ok({ headers: [option(":path", "/elsewhere")] })],
  "another method": [ok({ headers: [option(":method", "PUT")] })],
  "another authority": [ok({ headers: [option(":authority", "elsewhere.test")] })],
  "another host": [ok({ headers: [option("host", "elsewhere.test")] })],
  // Queries
  "a parameter": [ok({ query_parameters_to_set: [{ key: "a", value: "1" }] })],
  "a parameter that is there": [
    ok({ query_parameters_to_set: [{ key: "a", value: "2" }] }),
    { path: "?a=1&b=1" },
  ],
  "a removed parameter": [ok({ query_parameters_to_remove: ["a"] }), { path: "?a=1&b=1" }],
  "a parameter removed that is written in escapes": [
    ok({ query_parameters_to_remove: ["a"] }),
    { path: "?%61=1&b=1" },
  ],
  "a parameter set that is there twice": [
    ok({ query_parameters_to_set: [{ key: "a", value: "3" }] }),
    { path: "?a=1&a=2" },
  ],
  "the last parameter removed": [ok({ query_parameters_to_remove: ["a"] }), { path: "?a=1" }],
  // Changes of the response
  "a header of the response": [ok({ response_headers_to_add: [option("x-seen", "1")] })],
  "a header of the response that the upstream sets": [
    ok({ response_headers_to_add: [option("x-from", "server")] }),
  ],
  "a header of the response that overwrites": [
    ok({
      response_headers_to_add: [
        option("x-from", "server", { append_action: "OVERWRITE_IF_EXISTS_OR_ADD" }),
      ],
    }),
  ],
  "a header of the response only if absent": [
    ok({
      response_headers_to_add: [option("x-from", "server", { append_action: "ADD_IF_ABSENT" })],
    }),
  ],
  "a header of the response only if there, and it is not": [
    ok({
      response_headers_to_add: [
        option("x-none", "server", { append_action: "OVERWRITE_IF_EXISTS" }),
      ],
    }),
  ],
  "two cookies": [
    ok({ response_headers_to_add: [option("set-cookie", "a=b"), option("set-cookie", "c=d")] }),
  ],
  // Refusals
  "a refusal": [{ status: { code: 7 } }],
  "a refusal with a status": [no({ status: { code: "Unauthorized" } })],
  "a refusal with a body": [no({ status: { code: "TooManyRequests" }, body: "wait" })],
  "a refusal with a body and its type": [
    no({ body: "{}", headers: [option("content-type", "application/json")] }),
  ],
  "a refusal with headers": [
    no({
      status: { code: "Found" },
      headers: [
        option("location", "/login"),
        option("set-cookie", "a=b"),
        option("set-cookie", "c=d"),
      ],
    }),
  ],
  "a refusal without a status of its own": [no({})],
  "a refusal of a HEAD request": [no({ body: "no" }), { method: "HEAD" }],
  "a response of refusal without the status of one": [{ denied_response: { body: "no" } }],
  "a refusal with success": [no({ status: { code: "OK" }, body: "yes" })],
  "a refusal without content": [no({ status: { code: "NoContent" } })],
  "a refusal with what announces a body": [
    no({ body: "no", headers: [option("content-length", "9"), option("x-why", "1")] }),
  ],
  "a refusal of a call of gRPC": [no({ body: "not you" }), call()],
  "a refusal of a call of gRPC with a status": [
    no({ status: { code: "TooManyRequests" }, headers: [option("x-why", "1")] }),
    call(),
  ],
  "no verdict on a call of gRPC": [{ abort: "INTERNAL" }, call()],
  "an error of the server": [{ abort: "INTERNAL" }],
};

/** Requests that an authorization server decides over gRPC. */
export const extAuthzRequests: readonly OracleRequest[] = Object.entries(verdicts).map(
  ([name, [verdict, { setup = "plain", headers, ...request } = {}]]) => ({
    name,
    setup,
    ...request,
    headers: { "x-verdict": utf8(JSON.stringify(verdict)), ...headers },
  }),
);

/** A call of gRPC, with an empty message. */
function call(): Request {
  return {
    method: "POST",
    headers: { "content-type": "application/grpc", te: "trailers" },
    body: "\0\0\0\0\0",
  };
}

/** The bytes of a text, each a character: as Node's client sends it. */
function utf8(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function some(): Request {
  return { headers: { "x-some": "old" } };
}

function ok(response: object): object {
  return { ok_response: response };
}

function no(response: object): object {
  return { status: { code: 7 }, denied_response: response };
}
