import type {
  OptionValues,
  PolicyConnection,
  PolicyDefinition,
  PolicyJson,
  PolicyOptions,
  PolicyRefusal,
  PolicyRequest,
  PolicyTexts,
  PolicyTool,
  PolicyToolCall,
  PolicyToolResult,
  ProvidedTypes,
} from "./policy.ts";

/** A request of a test. */
export interface TestedRequest {
  /** `GET` if absent. */
  readonly method?: string;
  /** `http://localhost/` if absent. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** `127.0.0.1` if absent. */
  readonly clientAddress?: string;
  readonly jwt?: Readonly<Record<string, unknown>>;
  readonly apiKey?: Readonly<Record<string, unknown>>;
  readonly user?: string;
  /** Values that earlier policies provided. */
  readonly custom?: Readonly<Record<string, unknown>>;
}

/** The result of a tested policy. */
export interface TestedResult {
  /** The refusal; `undefined` if the request continues. */
  readonly refusal:
    | { readonly status: number; readonly message: string; readonly headers: Headers }
    | undefined;
  /** Headers of the request to the backend. */
  readonly headers: Headers;
  /** Body of the request to the backend. */
  readonly body: string;
  /** Values that the policy provided. */
  readonly provided: Readonly<Record<string, unknown>>;
}

/** A response of a test. */
export interface TestedResponse {
  /** 200 if absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Runs the hooks of a policy for requests in memory. The gateway validates more: it refuses headers that it sets itself and
 * values that were not declared.
 *
 * @example
 * const { refusal } = await testPolicy(tenant, { header: "x-team" }, { headers: { "x-team": "acme" } });
 */
export async function testPolicy<Options extends PolicyOptions, Provides extends ProvidedTypes>(
  policy: PolicyDefinition<Options, Provides>,
  options: Partial<OptionValues<Options>> = {},
  request: TestedRequest = {},
): Promise<TestedResult> {
  const view = requestView(request);
  const known = withDefaults(policy, options);
  const results: unknown[] = [await policy.request?.(view, known)];
  let body = request.body ?? "";
  if (!results.some(isRefusal)) {
    const changed = await policy.requestBody?.(new TextEncoder().encode(body), known, view);
    if (typeof changed === "string") body = changed;
    else if (changed instanceof Uint8Array) body = new TextDecoder().decode(changed);
    else results.push(changed);
  }
  const refusal = results.find(isRefusal);
  const provided = Object.assign({}, ...results.filter((each) => !isRefusal(each)));
  return {
    refusal: refusal && { ...refusal, headers: new Headers(refusal.headers) },
    headers: view.headers,
    ...{ body, provided },
  };
}

/** Runs the `response` hook of a policy and returns the changed head. */
export function testResponse<Options extends PolicyOptions, Provides extends ProvidedTypes>(
  policy: PolicyDefinition<Options, Provides>,
  options: Partial<OptionValues<Options>> = {},
  { status = 200, headers = {} }: TestedResponse = {},
  request: TestedRequest = {},
): { readonly status: number; readonly headers: Headers } {
  const response = { status, headers: new Headers(headers), request: requestView(request) };
  policy.response?.(response, withDefaults(policy, options));
  return response;
}

/** A body with its head, of a test. */
export interface TestedBody extends TestedResponse {
  readonly body?: string;
}

/**
 * Runs the hooks of a policy for the body of a response, and then its `response` hook, and returns the response that a client
 * gets. The body of `responseStream` passes in one piece.
 *
 * @example
 * const { body } = await testResponseBody(redact, {}, { body: "card 4111111111111111" });
 */
export async function testResponseBody<
  Options extends PolicyOptions,
  Provides extends ProvidedTypes,
>(
  policy: PolicyDefinition<Options, Provides>,
  options: Partial<OptionValues<Options>> = {},
  { status = 200, headers = {}, body = "" }: TestedBody = {},
  request: TestedRequest = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: string }> {
  const known = withDefaults(policy, options);
  const response = { status, headers: new Headers(headers), request: requestView(request) };
  const refused = ({ message, ...head }: TestRefusal) => ({
    ...{ status: head.status, headers: new Headers(head.headers), body: message },
  });
  let text = body;
  const made = await policy.responseBody?.(new TextEncoder().encode(text), known, response);
  if (isRefusal(made)) return refused(made);
  if (typeof made === "string") text = made;
  else if (made instanceof Uint8Array) text = new TextDecoder().decode(made);
  const streams = policy.responseStream?.(response, known);
  if (isRefusal(streams)) return refused(streams);
  if (streams !== undefined && "readable" in streams) {
    const writer = streams.writable.getWriter();
    // A failure of the streams shows when they are read.
    for (const step of [writer.write(new TextEncoder().encode(text)), writer.close()])
      step.catch(() => {});
    text = "";
    const decoder = new TextDecoder();
    for await (const piece of streams.readable) text += decoder.decode(piece, { stream: true });
  }
  policy.response?.(response, known);
  return { status: response.status, headers: response.headers, body: text };
}

/** A connection of a test. */
export interface TestedConnection {
  /** `127.0.0.1` if absent. */
  readonly clientAddress?: string;
  readonly serverName?: string;
  /** All bytes that the client sends before it waits; none if absent. */
  readonly bytes?: Uint8Array;
}

/**
 * Runs the `connect` hook of a policy and returns its refusal; `undefined` if the connection is forwarded.
 *
 * @example
 * const refusal = await testConnect(names, { names: ["db"] }, { serverName: "other" });
 */
export async function testConnect<Options extends PolicyOptions, Provides extends ProvidedTypes>(
  policy: PolicyDefinition<Options, Provides>,
  options: Partial<OptionValues<Options>> = {},
  { clientAddress = "127.0.0.1", serverName, bytes = new Uint8Array() }: TestedConnection = {},
): Promise<PolicyRefusal | undefined> {
  const connection: PolicyConnection = {
    ...{ clientAddress, clientPort: 40_000, serverName: serverName ?? null },
    firstBytes: async (count) => new Uint8Array(bytes.subarray(0, count)),
    refuse: (message) => new TestRefusal(403, message, {}),
  };
  const made = await policy.connect?.(connection, withDefaults(policy, options));
  return isRefusal(made) ? made : undefined;
}

/** Inputs of the hooks for tools and texts, by hook. */
export interface TestedInputs {
  readonly toolCall: PolicyToolCall;
  readonly toolResult: PolicyToolResult;
  readonly toolList: readonly PolicyTool[];
  readonly prompt: PolicyTexts;
  readonly completion: PolicyTexts;
}

/** Results of the hooks for tools and texts, by hook; refusals are apart. */
export interface TestedValues {
  readonly toolCall: undefined;
  readonly toolResult: PolicyJson | undefined;
  readonly toolList: readonly PolicyTool[] | undefined;
  readonly prompt: readonly string[] | undefined;
  readonly completion: readonly string[] | undefined;
}

/**
 * Runs one hook of a policy for tools or for texts. `value` is `undefined` if it returns nothing or a refusal.
 *
 * @example
 * const { refusal } = await testHook(limit, "toolCall", { tool: "pay", arguments: { amount: 11 } });
 */
export async function testHook<
  Hook extends keyof TestedInputs,
  Options extends PolicyOptions,
  Provides extends ProvidedTypes,
>(
  policy: PolicyDefinition<Options, Provides>,
  hook: Hook,
  input: TestedInputs[Hook],
  options: Partial<OptionValues<Options>> = {},
  request: TestedRequest = {},
): Promise<{
  readonly refusal: PolicyRefusal | undefined;
  readonly value: TestedValues[Hook] | undefined;
}> {
  // Each hook takes the input of its own name, which the type of `hook` ensures.
  const run = policy[hook] as
    | ((
        input: TestedInputs[Hook],
        options: OptionValues<Options>,
        request: PolicyRequest,
      ) => unknown)
    | undefined;
  const made = await run?.(input, withDefaults(policy, options), requestView(request));
  if (isRefusal(made)) return { refusal: made, value: undefined };
  return { refusal: undefined, value: made as TestedValues[Hook] | undefined };
}

/** A refusal of a test. */
class TestRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>>) {
    this.status = status;
    this.message = message;
    this.headers = headers;
  }
}

function isRefusal(result: unknown): result is TestRefusal {
  return result instanceof TestRefusal;
}

function requestView(request: TestedRequest) {
  const url = new URL(request.url ?? "http://localhost/");
  return {
    ...{ method: request.method ?? "GET", url: url.href, path: url.pathname, host: url.host },
    headers: new Headers(request.headers),
    clientAddress: request.clientAddress ?? "127.0.0.1",
    jwt: request.jwt ?? null,
    apiKey: request.apiKey ?? null,
    user: request.user ?? null,
    custom: request.custom ?? {},
    signal: new AbortController().signal,
    refuse: (status: number, message: string, headers: Readonly<Record<string, string>> = {}) =>
      new TestRefusal(status, message, headers),
  };
}

/** Adds the declared defaults to options. */
function withDefaults<Options extends PolicyOptions, Provides extends ProvidedTypes>(
  { options }: PolicyDefinition<Options, Provides>,
  given: Partial<OptionValues<Options>>,
): OptionValues<Options> {
  const defaults = Object.entries(options ?? {}).map(([name, option]) => [name, option.default]);
  // Declared options are complete: those without a default are `undefined` in a gateway, too.
  return { ...Object.fromEntries(defaults), ...given } as OptionValues<Options>;
}
