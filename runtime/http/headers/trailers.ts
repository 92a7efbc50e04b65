import { type HeaderList, headerValue } from "./header-list.ts";
import { HOP_BY_HOP } from "./hop-by-hop.ts";

/**
 * Fields that trailers must not contain (RFC 9110 6.5.1), in addition to hop-by-hop fields: routing, identity, properties of
 * the body, and what caches and clients have already acted on.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  ...["authorization", "cookie", "host", "set-cookie", "www-authenticate"],
  ...["cache-control", "content-encoding", "content-range", "content-type", "location", "vary"],
]);

/** Syntax of fields (RFC 9110 5.1, 5.5), which an upstream over HTTP/1.1 may violate. */
const [token, fieldValue] = [/^[a-z0-9!#$%&'*+\-.^_`|~]+$/, /^[\t\x20-\x7e\x80-\xff]*$/];

/** Returns the trailers that may be sent after a body and drops the others. */
export function sendableTrailers(trailers: HeaderList): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i < trailers.length; i += 2) {
    const name = (trailers[i] ?? "").toLowerCase();
    const value = trailers[i + 1] ?? "";
    if (HOP_BY_HOP.has(name) || HEAD_ONLY.has(name)) continue;
    if (token.test(name) && fieldValue.test(value)) kept.push(name, value);
  }
  return kept;
}

/**
 * Further fields that trailers of a request must not contain: some servers read trailers as headers, and these determine how a
 * request is handled (RFC 9110 6.5.1) or where it came from.
 */
const REQUEST_HEAD_ONLY =
  /^(?:forwarded|x-forwarded-.*|x-real-ip|via|max-forwards|range|if-.*|pragma|origin|referer|traceparent|tracestate|baggage|x-http-method.*|x-request-id|mcp-.*)$/;

/** The head of a request as it is sent upstream. */
interface RequestHead {
  readonly requestHeaders: HeaderList;
}

/** Filters the trailers of a request, so that none passes for a header that was checked or changed. */
export class RequestTrailers {
  readonly #request: RequestHead;
  readonly #sent: HeaderList;
  readonly #changed = new Set<string>();

  /** `sent`: the head as received. */
  constructor(request: RequestHead, sent: HeaderList) {
    this.#request = request;
    this.#sent = sent;
  }

  /** Records that a policy set or removed the header of this name. */
  note(name: string): void {
    this.#changed.add(dashed(name));
  }

  /** Returns the trailers that are sent upstream. */
  passing(trailers: HeaderList): HeaderList {
    const inHead = new Set([...names(this.#sent), ...names(this.#request.requestHeaders)]);
    const sendable = sendableTrailers(trailers);
    return sendable.filter((_, i) => {
      const name = dashed(sendable[i - (i % 2)] ?? "");
      return !REQUEST_HEAD_ONLY.test(name) && !inHead.has(name) && !this.#changed.has(name);
    });
  }

  /** Announced trailers: servers may accept only those (RFC 9110 6.6.2). `undefined` without any. */
  get announced(): string | undefined {
    const sent = headerValue(this.#sent, "trailer");
    if (sent === undefined) return undefined;
    const fields = sent.split(",").flatMap((name) => [name.trim(), ""]);
    const passing = this.passing(fields).filter((_, i) => i % 2 === 0);
    return passing.length === 0 ? undefined : passing.join(", ");
  }
}

function names(list: HeaderList): readonly string[] {
  return list.filter((_, i) => i % 2 === 0).map(dashed);
}

/** Normalizes names that servers take for the same (RFC 3875 4.1.18). */
function dashed(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}
