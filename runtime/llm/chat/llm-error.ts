/** What went wrong with an LLM call, whatever format says it. */
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
  /** For the client: what the provider said, or what is wrong with the request. No internals. */
  readonly message: string;
  /** What the provider said it with; the kind's own when absent. */
  readonly status?: number | undefined;
  /** Seconds after which the provider wants to be asked again, where its message says so. */
  readonly retryAfter?: number | undefined;
  /** The field of the request that it is about: `messages[2].content`. */
  readonly field?: string | undefined;
  /** Of what is not found: it is the path of the request, and not a model. */
  readonly isOfPath?: boolean;
  /** What the configuration wants said in the place of the format's own words; `headers`: a flat list. */
  readonly own?: { readonly body: string; readonly headers: readonly string[] } | undefined;
}

/** A request that is not passed on, and why. */
export class LlmRefusal extends Error {
  readonly error: LlmError;

  constructor(error: LlmError) {
    super(error.message);
    this.error = error;
  }
}

/** The status of a kind of error when the provider gave none. */
const statuses: { readonly [Kind in LlmErrorKind]: number } = {
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

/** The HTTP status of an error. */
export function errorStatus({ kind, status }: LlmError): number {
  return status ?? statuses[kind];
}

/** The kind of error that a status alone says. */
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

/** Providers say that a prompt is too long in words; clients look for a code or for those words. */
export function isContextLength(message: string): boolean {
  return /prompt is too long|maximum context length|context[ _]window|context_length_exceeded|input is too long|exceeds the maximum number of tokens/i.test(
    message,
  );
}
