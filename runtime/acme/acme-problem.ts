import { MINUTE, SECOND } from "../process/units.ts";

/** A failed order. The message is for the operator, and has no secret. */
export class AcmeProblem extends Error {
  override readonly name = "AcmeProblem";
  /** Last word of the type of the server's problem (RFC 8555 6.7); `undefined` if the server sent none. */
  readonly type: string | undefined;
  /** Milliseconds that the server wants clients to wait; `undefined` if it did not say. */
  readonly retryAfter: number | undefined;
  /** Whether the server responded, so that the attempt counts for its limits. */
  readonly hasResponse: boolean;

  constructor(
    message: string,
    { type, retryAfter, hasResponse = false }: Partial<Omit<AcmeProblem, keyof Error>> = {},
  ) {
    super(message);
    this.type = type;
    this.retryAfter = retryAfter;
    this.hasResponse = hasResponse;
  }
}

/** First and longest pause in milliseconds after a failure that the server's limits count (Let's Encrypt: 5 an hour for each name). */
const FIRST_PAUSE = MINUTE;
const MAX_PAUSE = 60 * MINUTE;
/** The same if the server could not be reached. */
const FIRST_ABSENCE = 5 * SECOND;
const MAX_ABSENCE = 10 * MINUTE;
/** Longest pause that a server can ask for. */
const MAX_ASKED = 24 * 60 * MINUTE;

/** Returns the milliseconds before the next attempt. `failures`: in a row, at least one. */
export function pauseAfter({ hasResponse, retryAfter }: AcmeProblem, failures: number): number {
  const [first, longest] = hasResponse ? [FIRST_PAUSE, MAX_PAUSE] : [FIRST_ABSENCE, MAX_ABSENCE];
  const own = Math.min(longest, first * 2 ** Math.min(failures - 1, 20));
  return retryAfter === undefined ? own : Math.min(MAX_ASKED, Math.max(SECOND, retryAfter));
}

/** Parses the Retry-After header to milliseconds (RFC 9110 10.2.3); `undefined` if it is absent or malformed. */
export function retryAfterOf(header: unknown): number | undefined {
  if (typeof header !== "string") return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
