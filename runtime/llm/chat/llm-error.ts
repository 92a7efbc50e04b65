import type { RefusalReason } from "../../http/exchange.ts";

/** Kind of an error, independent of formats. */
export type LlmErrorKind =
  | "invalid"
  | "unsupported"
  | "context-length"
  | "authentication"
  | "permission"
  | "not-found"
  | "too-large"
  | "rate-limit"
  | "quota"
  | "overloaded"
  | "server"
  | "timeout"
  | "filtered";

/** An error for the client, to be written in its own format. */
export interface LlmError {
  readonly kind: LlmErrorKind;
  /** Message for the client: the provider's, or the mistake in the request. Never internals. */
  readonly message: string;
  /** Status of the provider; absent: the one of the kind. */
  readonly status?: number | undefined;
  /** Seconds after which to retry, if the provider's message contains them. */
  readonly retryAfter?: number | undefined;
  /** The field of the request that it concerns: `messages[2].content`. */
  readonly field?: string | undefined;
  /** `error.type` of a provider of OpenAI's formats. */
  readonly type?: string | undefined;
  /** The provider's most specific word for the error: `invalid_api_key`, `RESOURCE_EXHAUSTED`. */
  readonly code?: string | undefined;
  /** The provider's ID of the request. */
  readonly requestId?: string | undefined;
  /** For errors of kind "not-found": whether the path was not found, rather than a model. */
  readonly isOfPath?: boolean;
  /** Whether a provider of the client's format sent it in another one. */
  readonly isForeign?: boolean;
  /** Reason in logs of an error that guards made; absent: `PromptGuard`. */
  readonly reason?: RefusalReason | undefined;
  /** Response instead of the format's own: configured, or the provider's in the client's format. `headers`: a flat list. */
  readonly own?:
    | { readonly body: string | Uint8Array; readonly headers: readonly string[] }
    | undefined;
}

/** Returns a word of a provider's error, for clients; `undefined` if it is not one word. */
export function providerWord(value: unknown): string | undefined {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value) ? value : undefined;
}

/** A request that is not forwarded, and the reason. */
export class LlmRefusal extends Error {
  readonly error: LlmError;

  constructor(error: LlmError) {
    super(error.message);
    this.error = error;
  }
}

/** Returns the reason in logs of an error that guards made. */
export function rejectionReason({ reason = "PromptGuard" }: LlmError): RefusalReason {
  return reason;
}

/** Statuses of errors for which the provider gave none, in most APIs. */
const STATUSES: { readonly [Kind in LlmErrorKind]: number } = {
  invalid: 400,
  unsupported: 400,
  "context-length": 400,
  authentication: 401,
  permission: 403,
  "not-found": 404,
  "too-large": 413,
  "rate-limit": 429,
  quota: 429,
  overloaded: 503,
  server: 502,
  timeout: 504,
  filtered: 400,
};

/** Kinds of errors whose status differs between APIs. */
const VARYING = ["overloaded", "quota", "timeout"] as const satisfies readonly LlmErrorKind[];

/** Statuses of errors in an API, where they are not those of most APIs. */
export type OwnStatuses = Readonly<Partial<Record<(typeof VARYING)[number], number>>>;

/** Returns the HTTP status of an error in an API. */
export function errorStatus({ kind, status }: LlmError, own: OwnStatuses = {}): number {
  return status ?? (isVarying(kind) ? own[kind] : undefined) ?? STATUSES[kind];
}

/** Returns an error of a provider for clients of another API: without a status for which APIs have different ones. */
export function translatedError(error: LlmError): LlmError {
  return isVarying(error.kind) ? errorOfEvent(error) : error;
}

/** Returns an error of an event, which has no status of its own. */
export function errorOfEvent(error: LlmError): LlmError {
  const { status: _, ...others } = error;
  return others;
}

function isVarying(kind: LlmErrorKind): kind is (typeof VARYING)[number] {
  return VARYING.some((each) => each === kind);
}

/** Returns the kind of error for a status. */
export function kindOfStatus(status: number): LlmErrorKind {
  switch (status) {
    case 401:
      return "authentication";
    case 402:
      return "quota";
    case 403:
      return "permission";
    case 404:
      return "not-found";
    case 408:
    case 504:
      return "timeout";
    case 413:
      return "too-large";
    case 429:
      return "rate-limit";
    case 503:
    case 529:
      return "overloaded";
    default:
      return status >= 500 ? "server" : "invalid";
  }
}

/**
 * Whether a message reports that a prompt is too long. Providers report it in words; clients expect a code, or the same
 * words.
 */
export function isContextLength(message: string): boolean {
  return /prompt is too long|maximum context length|context[ _]window|context_length_exceeded|input is too long|exceeds the maximum number of tokens/i.test(
    message,
  );
}
