// The public contract of custom policies, version 1. It imports nothing, so that an installed package has its types without a
// build. `.github/reference/policy-api.d.ts` records it, and a test fails when the two differ.

/** A result that a hook returns at once or later. */
type Eventually<Value> = Value | Promise<Value>;

/** The result of a hook that does not return a value. */
// biome-ignore lint/suspicious/noConfusingVoidType: functions without `return` have no other type.
type Nothing = void;

/** Types of an option or of a provided value, by the names that declarations use. */
interface ValueTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  /** A list of strings. */
  readonly strings: readonly string[];
}

/** Name of the type of an option or of a provided value. */
export type ValueType = keyof ValueTypes;

/** An option of a policy, which a configuration sets in `with`. */
export interface PolicyOption {
  readonly type: ValueType;
  /** Sentence for `gwc explain`. */
  readonly description?: string;
  /** Value of a configuration that does not set it. */
  readonly default?: string | number | boolean | readonly string[];
  /** Whether a configuration must set it. */
  readonly required?: boolean;
  /** Permitted values of a string. */
  readonly enum?: readonly string[];
  /** Regular expression that a string matches. */
  readonly pattern?: string;
  /** Limits of a number, both inclusive. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Whether it is a credential: the gateway reads it from its environment, and nothing shows it. */
  readonly secret?: boolean;
}

/** Options of a policy, by name. */
export type PolicyOptions = { readonly [name: string]: PolicyOption };

type OptionValue<Option> = Option extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Option extends { readonly type: infer Type extends ValueType }
    ? ValueTypes[Type]
    : never;

/** Names of options that always have a value. */
type CertainNames<Options> = {
  [Name in keyof Options]: Options[Name] extends
    | { readonly default: unknown }
    | { readonly required: true }
    ? Name
    : never;
}[keyof Options];

/** The options that a hook receives: `undefined` without a default or a configured value. */
export type OptionValues<Options extends PolicyOptions> = {
  readonly [Name in CertainNames<Options>]: OptionValue<Options[Name]>;
} & {
  readonly [Name in Exclude<keyof Options, CertainNames<Options>>]?:
    | OptionValue<Options[Name]>
    | undefined;
};

/** Values that a policy finds out about a request, by name. Later rules read them as `custom.NAME`. */
export type ProvidedTypes = { readonly [name: string]: ValueType };

/** The values that a `request` hook returns; it returns none if the policy declares none. */
export type ProvidedValues<Provides extends ProvidedTypes> = [keyof Provides] extends [never]
  ? never
  : { readonly [Name in keyof Provides]?: ValueTypes[Provides[Name]] | undefined };

/** Headers of a message, as in the Fetch standard. Names are case-insensitive. */
export interface PolicyHeaders {
  /** Returns the value; null if the header is absent. Several values are joined by `, `. */
  get(name: string): string | null;
  has(name: string): boolean;
  /** Replaces all values. Throws a TypeError for invalid names and values, and for headers that the gateway sets itself. */
  set(name: string, value: string): void;
  /** Adds a value. */
  append(name: string, value: string): void;
  delete(name: string): void;
}

/** A response that ends the request: a hook creates one with `request.refuse` and returns it. */
export interface PolicyRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A JSON object from outside, such as the claims of a token. */
export type PolicyJson = { readonly [name: string]: unknown };

/** A request, after authentication. */
export interface PolicyRequest {
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  /** Normalized path, without the query. */
  readonly path: string;
  /** Host as sent, in lower case, with the port if there is one. */
  readonly host: string;
  readonly headers: PolicyHeaders;
  /** Address of the client. */
  readonly clientAddress: string;
  /** Claims of the verified token; null without one. */
  readonly jwt: PolicyJson | null;
  /** Metadata of the API key; null without one. */
  readonly apiKey: PolicyJson | null;
  /** User of basic authentication; null without one. */
  readonly user: string | null;
  /** Values that earlier custom policies provided. */
  readonly custom: PolicyJson;
  /** Aborted when the client leaves, or when an async hook exceeds its deadline. */
  readonly signal: AbortSignal;
  /** Makes a response that ends the request. `message` goes to the client. */
  refuse(
    status: number,
    message: string,
    headers?: Readonly<Record<string, string>>,
  ): PolicyRefusal;
}

/** A call of an MCP tool, before it is routed to a server. */
export interface PolicyToolCall {
  /** Name as the client sent it: with the prefix of its server if the route has several. */
  readonly tool: string;
  readonly arguments: PolicyJson;
}

/** The result of a call of an MCP tool. */
export interface PolicyToolResult {
  /** Name as the client sent it: with the prefix of its server if the route has several. */
  readonly tool: string;
  /** `content`, `structuredContent`, `isError` ... of MCP's `CallToolResult`. */
  readonly result: PolicyJson;
}

/** A tool in a list of MCP. */
export interface PolicyTool {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A text of a model call. */
export interface PolicyText {
  /** `system`, `user`, `assistant`, `tool` ... */
  readonly role: string;
  readonly text: string;
}

/** Texts of a request to a model, or of its response, of clients and providers of any format. */
export interface PolicyTexts {
  readonly texts: readonly PolicyText[];
}

/** A pair of Web streams, such as a `TransformStream`. */
export interface PolicyStreams {
  readonly writable: WritableStream<Uint8Array>;
  readonly readable: ReadableStream<Uint8Array>;
}

/** A client's connection of a route that forwards connections, before anything is forwarded. */
export interface PolicyConnection {
  /** Address of the client. */
  readonly clientAddress: string;
  readonly clientPort: number;
  /** Server name of the TLS handshake, in lower case; null without TLS or a name. */
  readonly serverName: string | null;
  /**
   * Resolves with the first bytes that the client sends, at most 16,384, or with fewer if it sends no more. They are forwarded
   * as well. A client that waits for the server to speak first exceeds the timeout.
   */
  firstBytes(count: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Makes a refusal, which aborts the connection. `message` is logged. */
  refuse(message: string): PolicyRefusal;
}

/** The head of a response, before any of it is sent. */
export interface PolicyResponse {
  /** From 200 to 599. */
  status: number;
  readonly headers: PolicyHeaders;
  /** The request that it responds to. */
  readonly request: PolicyRequest;
}

/** A policy. Each hook is optional, and at least one is there. */
export interface PolicyDefinition<Options extends PolicyOptions, Provides extends ProvidedTypes> {
  /** Declares what a configuration may set. */
  readonly options?: Options;
  /** Declares the values that `request` returns. */
  readonly provides?: Provides;
  /**
   * Set if `request` authenticates the caller: it must return all provided values, or a refusal. Otherwise the request is
   * refused with 500, and `failOpen` is not permitted.
   *
   * @example
   * identity: true,
   * provides: { device: "string" },
   * async request(request, { key }) {
   *   const device = await verified(request.headers.get("x-device"), key);
   *   return device === undefined ? request.refuse(401, "unknown device") : { device };
   * }
   */
  readonly identity?: true;
  /**
   * Runs before the request reaches a backend. Returns nothing to continue, values that it provides, or a refusal.
   *
   * @example
   * request(request, { header }) {
   *   const tenant = request.headers.get(header);
   *   return tenant === null ? request.refuse(403, "no tenant") : { tenant };
   * }
   */
  request?(
    request: PolicyRequest,
    options: OptionValues<NoInfer<Options>>,
  ): Eventually<ProvidedValues<NoInfer<Provides>> | PolicyRefusal | Nothing>;
  /**
   * Changes the head of every response to the client, also of refusals. It is synchronous.
   *
   * @example
   * response(response) {
   *   response.headers.delete("server");
   * }
   */
  response?(response: PolicyResponse, options: OptionValues<NoInfer<Options>>): void;
  /**
   * Decides on a call of an MCP tool, of clients of any revision. Returns nothing, or a refusal, which the client receives
   * as a JSON-RPC error.
   *
   * @example
   * toolCall({ tool, arguments: given }, { limit }, request) {
   *   if (tool === "pay" && Number(given.amount) > limit) return request.refuse(403, "too much");
   * }
   */
  toolCall?(
    call: PolicyToolCall,
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<PolicyRefusal | Nothing>;
  /**
   * Reads the result of a call of an MCP tool, of clients of any revision, and may return another result. A refusal is a
   * JSON-RPC error.
   *
   * @example
   * toolResult({ tool, result }) {
   *   return tool === "read_mail" ? JSON.parse(JSON.stringify(result).replaceAll(/\d{16}/g, "[card]")) : undefined;
   * }
   */
  toolResult?(
    call: PolicyToolResult,
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<PolicyJson | PolicyRefusal | Nothing>;
  /**
   * Reads a list of MCP tools, after rules were applied, and may return some of them with other descriptions. Calls are not
   * affected.
   *
   * @example
   * toolList(tools, { hidden }) {
   *   return tools.filter(({ name }) => name !== hidden);
   * }
   */
  toolList?(
    tools: readonly PolicyTool[],
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<readonly PolicyTool[] | PolicyRefusal | Nothing>;
  /**
   * Reads the whole body of the request, and may replace it. The body is buffered; larger ones are refused with 413.
   *
   * @example
   * requestBody(body, { secret }, request) {
   *   request.headers.set("x-length", String(body.length));
   * }
   */
  requestBody?(
    body: Uint8Array<ArrayBuffer>,
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<Uint8Array | string | PolicyRefusal | Nothing>;
  /**
   * Reads the texts of a request to a model, after the guards of the backend, and may return other ones: as many strings, in
   * the same order. The client receives a refusal as an error of its format.
   *
   * @example
   * prompt({ texts }) {
   *   return texts.map(({ text }) => text.replaceAll("Project Falcon", "[project]"));
   * }
   */
  prompt?(
    prompt: PolicyTexts,
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<readonly string[] | PolicyRefusal | Nothing>;
  /**
   * Reads the texts of a model's response, after the guards of the backend, and may return other ones. Of a stream it reads
   * windows of 1,024 characters, which overlap by a quarter.
   *
   * @example
   * completion({ texts }, options, request) {
   *   if (texts.some(({ text }) => text.includes("CONFIDENTIAL"))) return request.refuse(403, "not for you");
   * }
   */
  completion?(
    completion: PolicyTexts,
    options: OptionValues<NoInfer<Options>>,
    request: PolicyRequest,
  ): Eventually<readonly string[] | PolicyRefusal | Nothing>;
  /**
   * Reads the whole body of a response, decompressed, and may replace it. The body is buffered; larger ones are replaced by
   * a 502. The head can be changed, too.
   *
   * @example
   * responseBody(body, options, response) {
   *   if (response.headers.get("content-type") === "application/json") return new TextDecoder().decode(body).trim();
   * }
   */
  responseBody?(
    body: Uint8Array<ArrayBuffer>,
    options: OptionValues<NoInfer<Options>>,
    response: PolicyResponse,
  ): Eventually<Uint8Array | string | PolicyRefusal | Nothing>;
  /**
   * Returns streams through which the body of a response passes piece by piece. It is called with the head, which it can
   * change, and is synchronous.
   *
   * @example
   * responseStream(response) {
   *   let size = 0;
   *   return new TransformStream<Uint8Array, Uint8Array>({
   *     transform(piece, controller) {
   *       size += piece.length;
   *       if (size > 1_000_000) controller.terminate();
   *       else controller.enqueue(piece);
   *     },
   *   });
   * }
   */
  responseStream?(
    response: PolicyResponse,
    options: OptionValues<NoInfer<Options>>,
  ): PolicyStreams | PolicyRefusal | Nothing;
  /**
   * Decides on a connection of `tcpRoutes`, before it is forwarded. Returns nothing, or a refusal.
   *
   * @example
   * connect(connection, { names }) {
   *   if (!names.includes(connection.serverName ?? "")) return connection.refuse("unknown name");
   * }
   */
  connect?(
    connection: PolicyConnection,
    options: OptionValues<NoInfer<Options>>,
  ): Eventually<PolicyRefusal | Nothing>;
}

/**
 * Declares a policy: the default export of a policy's module. Types of options and provided values follow from the
 * declaration.
 *
 * @example
 * export default definePolicy({
 *   options: { header: { type: "string", default: "x-tenant" } },
 *   provides: { tenant: "string" },
 *   request(request, { header }) {
 *     const tenant = request.headers.get(header);
 *     return tenant === null ? request.refuse(403, "no tenant") : { tenant };
 *   },
 * });
 */
export function definePolicy<
  const Options extends PolicyOptions = Readonly<Record<never, never>>,
  const Provides extends ProvidedTypes = Readonly<Record<never, never>>,
>(policy: PolicyDefinition<Options, Provides>): PolicyDefinition<Options, Provides> {
  return policy;
}
