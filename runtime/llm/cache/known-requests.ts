/** A request with everything that its digest is computed from, as received. */
export interface ComparedRequest {
  /** The callers that share its response, the providers, and the path. */
  readonly place: readonly string[];
  /** All headers, as a flat list. */
  readonly headers: readonly string[];
  /** Headers on which the response depends. */
  readonly relevant: readonly string[];
  readonly body: Uint8Array;
}

/** A request whose digest is known. */
export interface DigestedRequest extends ComparedRequest {
  readonly digest: string;
}

/**
 * Digests of requests by what they were computed from: comparing bytes takes a fraction of the time of reading a request and
 * writing it in its canonical form.
 */
export class KnownRequests {
  /** By the length of the body and some of its bytes. */
  readonly #groups = new Map<number, readonly DigestedRequest[]>();

  /** Returns the digest of a request; `undefined` if it is not known. */
  digestOf(request: ComparedRequest): string | undefined {
    const group = this.#groups.get(sampleOf(request.body));
    return group?.find((known) => areEqual(known, request))?.digest;
  }

  /** Adds a request. The oldest of similar ones makes room. Returns the one to remove. */
  add({ place, headers, relevant, body }: ComparedRequest, digest: string): DigestedRequest {
    // The connection uses the memory of its requests again.
    const known = { place, headers, relevant, body: new Uint8Array(body), digest };
    const sample = sampleOf(body);
    const group = this.#groups.get(sample) ?? [];
    this.#groups.set(sample, [...group.slice(1 - MAX_GROUP), known]);
    return known;
  }

  /** Removes what `add` returned. */
  remove(known: DigestedRequest): void {
    const sample = sampleOf(known.body);
    const others = this.#groups.get(sample)?.filter((each) => each !== known) ?? [];
    if (others.length === 0) this.#groups.delete(sample);
    else this.#groups.set(sample, others);
  }
}

/** Maximum number of requests that are compared with one. */
const MAX_GROUP = 16;

/** Number of bytes that tell bodies of one length apart: few, because hashing all takes longer than comparing them. */
const SAMPLES = 64;

function sampleOf(body: Uint8Array): number {
  const step = Math.max(1, Math.floor(body.length / SAMPLES));
  let sample = body.length;
  for (let at = 0; at < body.length; at += step) {
    sample = (Math.imul(sample, 31) + (body[at] ?? 0)) | 0;
  }
  return sample;
}

function areEqual(known: DigestedRequest, request: ComparedRequest): boolean {
  return (
    hasSame(known.place, request.place) &&
    Buffer.compare(known.body, request.body) === 0 &&
    (hasSame(known.headers, request.headers) || hasSame(known.relevant, request.relevant))
  );
}

function hasSame(known: readonly string[], list: readonly string[]): boolean {
  if (known.length !== list.length) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== list[i]) return false;
  return true;
}
