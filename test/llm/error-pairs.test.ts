import { beforeAll, describe, expect, it } from "vitest";
import { awsException } from "../harness/aws-event-stream.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";

/** A format of clients: its request, and what its SDKs read of an error. */
interface Client {
  readonly path: string;
  readonly type: string;
  /** Path of streams; absent if it is the same. */
  readonly streamPath?: string;
  readonly body: object;
  /** Header in which the SDK reads the ID of the request. */
  readonly idHeader: string;
  read(error: Parsed): ReadError;
}

/** An error as clients see it. */
interface ReadError {
  readonly message: unknown;
  readonly type: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

/** The members of an error's body. */
interface Parsed {
  readonly [member: string]: unknown;
  readonly error: { readonly [member: string]: unknown; readonly details?: readonly Detail[] };
}

interface Detail {
  readonly reason?: string;
  readonly fieldViolations?: readonly { readonly field: string }[];
}

const openaiError = ({ error }: Parsed): ReadError => ({
  ...{ message: error.message, type: error.type, code: error.code, param: error.param },
});
const messages = [{ role: "user", content: "Hello" }];

const clients: Readonly<Record<string, Client>> = {
  completions: {
    ...{ path: "/v1/chat/completions", type: "completions", idHeader: "x-request-id" },
    ...{ body: { model: "m", messages }, read: openaiError },
  },
  responses: {
    ...{ path: "/v1/responses", type: "responses", idHeader: "x-request-id" },
    ...{ body: { model: "m", input: "Hello" }, read: openaiError },
  },
  messages: {
    ...{ path: "/v1/messages", type: "messages", idHeader: "request-id" },
    body: { model: "m", max_tokens: 9, messages },
    read: openaiError,
  },
  generateContent: {
    ...{ path: "/v1beta/models/m:generateContent", type: "generateContent" },
    streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
    idHeader: "x-request-id",
    body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    read: ({ error: { message, status, details = [] } }) => ({
      ...{ message, type: status },
      code: details.find(({ reason }) => reason !== undefined)?.reason,
      param: details.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field,
    }),
  },
  converse: {
    ...{ path: "/model/m/converse", type: "converse", idHeader: "x-amzn-requestid" },
    streamPath: "/model/m/converse-stream",
    body: { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    read: ({ message, __type, providerCode }) => ({ message, type: __type, code: providerCode }),
  },
};

/** The words of each client for a kind of error; those of a provider of OpenAI's formats replace its own. */
const words = {
  invalid: ["invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "Validation"],
  context: ["invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "Validation"],
  forbidden: ["permission_error", "permission_error", "PERMISSION_DENIED", "AccessDenied"],
  missing: ["invalid_request_error", "not_found_error", "NOT_FOUND", "ResourceNotFound"],
  rate: ["rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED", "Throttling"],
  overloaded: ["server_error", "overloaded_error", "UNAVAILABLE", "ServiceUnavailable"],
  server: ["server_error", "api_error", "INTERNAL", "InternalServer"],
  quota: ["insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED", "ServiceQuotaExceeded"],
  timeout: ["server_error", "timeout_error", "DEADLINE_EXCEEDED", "ModelTimeout"],
} as const;

/** Statuses of the kinds for which APIs have different ones: of OpenAI and Google, Anthropic, and Bedrock. */
const statuses: Readonly<Partial<Record<Kind, readonly [number, number, number]>>> = {
  overloaded: [503, 529, 503],
  quota: [429, 402, 400],
  timeout: [504, 504, 408],
};

function statusFor(client: string, kind: Kind): number | undefined {
  const [usual, anthropic, bedrock] = statuses[kind] ?? [];
  if (client === "messages") return anthropic;
  return client === "converse" ? bedrock : usual;
}

type Kind = keyof typeof words;

/** Returns `type` of an error, in a client's words. */
function typeFor(client: string, kind: Kind): string {
  const [openai, anthropic, google, bedrock] = words[kind];
  if (client === "messages") return anthropic;
  if (client === "generateContent") return google;
  return client === "converse" ? `${bedrock}Exception` : openai;
}

/** A failure as a provider reports it. */
interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly message: string;
  /** Its content type; absent if it is JSON. */
  readonly type?: string;
  /** The most specific word of the provider for it. */
  readonly code?: string;
  readonly param?: string;
}

const RATE = { "retry-after": "9", "x-ratelimit-remaining-requests": "0" };

/** Failures of OpenAI: status, type, code and parameter. */
const ofOpenAi: Readonly<Record<Kind, readonly [number, string, string | null, string?]>> = {
  invalid: [400, "invalid_request_error", "unsupported_value", "temperature"],
  context: [400, "invalid_request_error", "context_length_exceeded", "messages"],
  forbidden: [403, "permission_error", "region_not_supported"],
  missing: [404, "invalid_request_error", "model_not_found"],
  rate: [429, "tokens", "rate_limit_exceeded"],
  overloaded: [503, "service_unavailable_error", "slow_down"],
  server: [500, "server_error", "internal"],
  quota: [429, "insufficient_quota", "insufficient_quota"],
  timeout: [504, "server_error", "timeout"],
};

function openai(kind: Kind): Failure {
  const [status, type, code, param] = ofOpenAi[kind];
  const message = `The ${kind} error of OpenAI.`;
  return {
    ...{ status, message, ...(code !== null && { code }), ...(param !== undefined && { param }) },
    headers: { "x-request-id": "req_openai", "x-ms-region": "West", ...RATE },
    body: `{ "error": ${JSON.stringify({ message, type, param: param ?? null, code, extra: [1] })} }`,
  };
}

const ofAnthropic: Readonly<Record<Kind, readonly [number, string]>> = {
  invalid: [400, "invalid_request_error"],
  context: [400, "invalid_request_error"],
  forbidden: [403, "permission_error"],
  missing: [404, "not_found_error"],
  rate: [429, "rate_limit_error"],
  overloaded: [529, "overloaded_error"],
  server: [500, "api_error"],
  quota: [402, "billing_error"],
  timeout: [504, "timeout_error"],
};

function anthropic(kind: Kind): Failure {
  const [status, type] = ofAnthropic[kind];
  const message = kind === "context" ? "prompt is too long: 3 > 2" : `The ${kind} error.`;
  const error = { type, message, details: { a: 1 } };
  return {
    ...{ status, message, code: type },
    headers: { "request-id": "req_anthropic", "anthropic-ratelimit-x": "1", ...RATE },
    body: `{"type":"error", "error":${JSON.stringify(error)},"request_id":"req_anthropic"}`,
  };
}

const ofGoogle: Readonly<Record<Kind, readonly [number, string]>> = {
  invalid: [400, "INVALID_ARGUMENT"],
  context: [400, "INVALID_ARGUMENT"],
  forbidden: [403, "PERMISSION_DENIED"],
  missing: [404, "NOT_FOUND"],
  rate: [429, "RESOURCE_EXHAUSTED"],
  overloaded: [503, "UNAVAILABLE"],
  server: [500, "INTERNAL"],
  // Google has one word for rates and quotas.
  quota: [429, "RESOURCE_EXHAUSTED"],
  timeout: [504, "DEADLINE_EXCEEDED"],
};

function google(kind: Kind): Failure {
  const [code, status] = ofGoogle[kind];
  const message =
    kind === "context" ? "The input exceeds the maximum number of tokens." : `The ${kind} error.`;
  const violation = { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [] };
  const param = "generation_config.temperature";
  const details =
    kind === "invalid"
      ? [{ ...violation, fieldViolations: [{ field: param, description: "no" }] }]
      : undefined;
  return {
    ...{ status: code, message, code: status, ...(kind === "invalid" && { param }) },
    headers: { "x-request-id": "req_google", ...RATE },
    body: `{ "error": ${JSON.stringify({ code, message, status, details })} }`,
  };
}

const ofBedrock: Readonly<Record<Kind, readonly [number, string]>> = {
  invalid: [400, "ValidationException"],
  context: [400, "ValidationException"],
  forbidden: [403, "AccessDeniedException"],
  missing: [404, "ResourceNotFoundException"],
  rate: [429, "ThrottlingException"],
  overloaded: [503, "ServiceUnavailableException"],
  server: [500, "InternalServerException"],
  quota: [400, "ServiceQuotaExceededException"],
  timeout: [408, "ModelTimeoutException"],
};

function bedrock(kind: Kind): Failure {
  const [status, code] = ofBedrock[kind];
  const text = kind === "context" ? "Input is too long for the model." : `The ${kind} error.`;
  return {
    // Its message has the name of the gateway's role.
    message: kind === "forbidden" ? "access to the model is denied" : text,
    ...{ status, ...(kind !== "forbidden" && { code }) },
    headers: { "x-amzn-requestid": "req_aws", "x-amzn-errortype": `${code}:http://a/`, ...RATE },
    body: `{ "message":${JSON.stringify(text)}}`,
  };
}

/** The providers, with the client format that they share. */
const providers = {
  completions: [{ openai: { model: "gpt-4o", api: "completions" } }, openai],
  responses: [{ openai: { model: "gpt-5", api: "responses" } }, openai],
  messages: [{ anthropic: { model: "claude-1" } }, anthropic],
  generateContent: [{ gemini: { model: "gemini-2.5-pro" } }, google],
  converse: [{ bedrock: { model: "anthropic.claude-1-v1:0" } }, bedrock],
} as const satisfies Readonly<Record<string, readonly [object, (kind: Kind) => Failure]>>;

type Provider = keyof typeof providers;

const kinds = Object.keys(words).map((kind) => kind as Kind);
const formats = Object.keys(providers).map((provider) => provider as Provider);

let gateway: Gateway;
/** The next response of the upstream. */
let next: Failure;

beforeAll(async () => {
  const { host } = await startScripted((response) => {
    const type = { "content-type": next.type ?? "application/json" };
    response.writeHead(next.status, { ...type, ...next.headers }).end(next.body);
  }, "anything");
  gateway = await startGateway({
    env: { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    listeners: [
      {
        routes: Object.entries(clients).flatMap(([client, { type }]) =>
          formats.map((provider) => ({
            name: `${client}-${provider}`,
            matches: [{ path: { pathPrefix: `/${client}/${provider}` } }],
            policies: { ai: { routes: { "*": type } } },
            backends: [{ ai: { provider: providers[provider][0], hostOverride: host } }],
          })),
        ),
      },
    ],
  });
});

function failed(client: string, provider: Provider, failure: Failure): Promise<Response> {
  next = failure;
  const { path = "", body = {} } = clients[client] ?? {};
  const url = `${gateway.url}/${client}/${provider}${path}`;
  return send(url, "POST", { "content-type": "application/json" }, JSON.stringify(body));
}

const pairs = Object.keys(clients).flatMap((client) =>
  formats.map((provider) => [client, provider] as const),
);

describe.each(pairs)("an error for a client of %s from a provider of %s", (client, provider) => {
  it.each(kinds)("is the provider's own, or says the same: %s", async (sent) => {
    const failure = providers[provider][1](sent);
    const kind = sent === "quota" && provider === "generateContent" ? "rate" : sent;
    const { status, headers, body } = await failed(client, provider, failure);
    const own = client === provider ? undefined : statusFor(client, kind);
    expect(status).toBe(own ?? failure.status);
    expect(headers).toMatchObject(RATE);
    if (client === provider) {
      expect(body).toBe(failure.body);
      expect(headers).toMatchObject(failure.headers);
      return;
    }
    const { read, idHeader = "" } = clients[client] ?? {};
    const shown = read?.(JSON.parse(body));
    const [, id] = Object.entries(failure.headers)[0] ?? [];
    expect(headers[idHeader]).toBe(id);
    expect(shown?.message).toContain(failure.message);
    if (kind === "context" && client === "messages")
      expect(shown?.message).toContain("prompt is too long");
    expect(shown?.type).toBe(expectedType(client, provider, kind));
    if (client !== "converse") expect(shown?.param ?? undefined).toBe(failure.param);
    expectCode(client, kind, failure, shown?.code ?? undefined);
  });

  it("does not tell the client of the gateway's credentials", async () => {
    const failure = { ...providers[provider][1]("invalid"), status: 401 };
    const { status, body } = await failed(client, provider, failure);
    // Without a key of the gateway, the client's own was wrong.
    expect(status).toBe(provider === "converse" ? 502 : 401);
    if (provider === "converse") expect(body).not.toContain(failure.message);
  });
});

describe.each(pairs)("an error that is all of a stream, from %s to %s", (client, provider) => {
  it.each(["overloaded", "rate"] as const)(
    "has the status of the client's API: %s",
    async (kind) => {
      const failure = providers[provider][1](kind);
      const { headers, body } = failure;
      next = { ...failure, status: 200, ...streamOf(provider, failure) };
      const { path = "", streamPath = path, body: request = {} } = clients[client] ?? {};
      const response = await send(
        `${gateway.url}/${client}/${provider}${streamPath}`,
        "POST",
        { "content-type": "application/json" },
        JSON.stringify(streamPath === path ? { ...request, stream: true } : request),
      );
      expect(response.status).toBe(statusFor(client, kind) ?? 429);
      expect(response.headers["content-type"]).toBe("application/json");
      if (client !== provider || provider === "converse" || provider === "responses") {
        const shown = clients[client]?.read(JSON.parse(response.body));
        expect(shown?.message).toBe(failure.message);
        expect(shown?.type).toBe(expectedType(client, provider, kind));
        return;
      }
      expect(response.body).toBe(body);
      expect(response.headers).toMatchObject(headers);
    },
  );
});

/** Returns the stream of a provider that has failed at once. */
function streamOf(
  provider: Provider,
  { body, code = "", message }: Failure,
): Pick<Failure, "body" | "type"> {
  if (provider === "converse") {
    const name = code.charAt(0).toLowerCase() + code.slice(1);
    return { body: awsException(name, message), type: "application/vnd.amazon.eventstream" };
  }
  const { error } = JSON.parse(body.toString());
  const data = provider === "responses" ? JSON.stringify({ type: "error", error }) : body;
  const name = provider === "messages" || provider === "responses" ? "event: error\n" : "";
  return { body: `${name}data: ${data}\n\n`, type: "text/event-stream" };
}

/** OpenAI's clients get the types of providers of its formats as they are. */
function expectedType(client: string, provider: Provider, kind: Kind): string {
  const isOpenAi = (format: string) => format === "completions" || format === "responses";
  return isOpenAi(client) && isOpenAi(provider) ? ofOpenAi[kind][1] : typeFor(client, kind);
}

/** Codes that OpenAI's clients know replace those of other providers. */
const known: Readonly<Partial<Record<Kind, string>>> = {
  context: "context_length_exceeded",
  missing: "model_not_found",
  rate: "rate_limit_exceeded",
  overloaded: "overloaded",
  quota: "insufficient_quota",
  timeout: "timeout",
};

function expectCode(client: string, kind: Kind, { code, body }: Failure, shown: unknown): void {
  const isOpenAi = client === "completions" || client === "responses";
  const isOfOpenAi = body.includes("of OpenAI");
  if (isOpenAi && !isOfOpenAi) expect(shown).toBe(known[kind] ?? code);
  // Google's own word is its type.
  else if (client === "generateContent" && code === words[kind][2]) expect(shown).toBeUndefined();
  else expect(shown).toBe(code);
}
