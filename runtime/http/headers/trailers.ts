import { type HeaderList, headerValue } from "./header-list.ts";
import { HOP_BY_HOP } from "./hop-by-hop.ts";

/**
 * What trailers may not say (RFC 9110 6.5.1), besides what belongs to a connection: routing, who somebody is, what the body
 * is, and what caches and clients do with a response whose head they have acted on.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  ...["authorization", "cookie", "host", "set-cookie", "www-authenticate"],
  ...["cache-control", "content-encoding", "content-range", "content-type", "location", "vary"],
]);

/** What a field may look like (RFC 9110 5.1, 5.5): an upstream over HTTP/1.1 may have sent another one. */
const [token, fieldValue] = [/^[a-z0-9!#$%&'*+\-.^_`|~]+$/, /^[\t\x20-\x7e\x80-\xff]*$/];

/** The trailers that may stand behind a body; others are dropped. */
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
 * What a trailer of a request may not say either: some servers read trailers as headers, and these say how a request is
 * handled (RFC 9110 6.5.1) or where it came from.
 */
const REQUEST_HEAD_ONLY =
  /^(?:forwarded|x-forwarded-.*|x-real-ip|via|max-forwards|range|if-.*|pragma|origin|referer|traceparent|tracestate|baggage|x-http-method.*|x-request-id|mcp-.*)$/;

/** The head of a request as it goes upstream. */
interface RequestHead {
  readonly requestHeaders: HeaderList;
}

/** What may stand behind the body of a request: nothing that could pass for what was judged or changed in its head. */
export class RequestTrailers {
  readonly #request: RequestHead;
  readonly #sent: HeaderList;
  readonly #changed = new Set<string>();

  /** `sent`: the head as it came. */
  constructor(request: RequestHead, sent: HeaderList) {
    this.#request = request;
    this.#sent = sent;
  }

  /** A policy has set or removed the header of that name. */
  note(name: string): void {
    this.#changed.add(dashed(name));
  }

  /** Those of `trailers` that go upstream. */
  passing(trailers: HeaderList): HeaderList {
    const inHead = new Set([...names(this.#sent), ...names(this.#request.requestHeaders)]);
    const sendable = sendableTrailers(trailers);
    return sendable.filter((_, i) => {
      const name = dashed(sendable[i - (i % 2)] ?? "");
      return !REQUEST_HEAD_ONLY.test(name) && !inHead.has(name) && !this.#changed.has(name);
    });
  }

  /** What the head says of them: servers may take those alone that it names (RFC 9110 6.6.2). Undefined: it names none. */
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

/** One for all names that servers take for the same (RFC 3875 4.1.18). */
function dashed(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}
