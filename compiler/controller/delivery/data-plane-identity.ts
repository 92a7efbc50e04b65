import { createHash } from "node:crypto";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";

/** For whom the tokens of data planes are made: one that was made for anybody else is not taken. */
export const TOKEN_AUDIENCE = "gwc.dev/controller";

/** How long a token is not looked up again that was found good, or not good, in milliseconds; how many of each are kept. */
const GOOD_TIME = 60_000;
const BAD_TIME = 10_000;
const MAX_REMEMBERED = 10_000;
/** Tokens that are looked up at a time, and those that wait for it: who sends tokens without end is not passed on. */
const MAX_AT_ONCE = 10;
const MAX_WAITING = 1_000;
/** Characters of a token of a service account, and many more. */
const MAX_TOKEN = 16_384;

/** Says whose a token is, by the API server (TokenReview). */
export class DataPlaneIdentity {
  readonly #api: ApiServer;
  /** By the digests of tokens: those that are good are not forgotten over those that are not. */
  readonly #good: Map<string, Verdict> = new Map();
  readonly #bad: Map<string, Verdict> = new Map();
  /** Token reviews in flight. */
  readonly #asked: Map<string, Promise<string | undefined>> = new Map();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  /**
   * Resolves to `system:serviceaccount:NAMESPACE:NAME`; to `undefined` if the token is not valid. Rejects if the API
   * server cannot be asked now.
   */
  async userOf(token: string): Promise<string | undefined> {
    if (token === "" || token.length > MAX_TOKEN) return undefined;
    const digest = createHash("sha256").update(token).digest("hex");
    const known = this.#good.get(digest) ?? this.#bad.get(digest);
    if (known !== undefined && known.until > performance.now()) return known.user;
    const asked = this.#asked.get(digest) ?? this.#inTurn(token);
    this.#asked.set(digest, asked);
    try {
      const user = await asked;
      // One that was good once is as bad as others when its time is over.
      if (user === undefined) this.#good.delete(digest);
      if (user === undefined) remember(this.#bad, digest, user, BAD_TIME);
      else remember(this.#good, digest, user, GOOD_TIME);
      return user;
    } finally {
      this.#asked.delete(digest);
    }
  }

  async #inTurn(token: string): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) throw new Error("too many tokens are looked up");
    if (this.#busy >= MAX_AT_ONCE)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    else this.#busy += 1;
    try {
      return await this.#review(token);
    } finally {
      // Its place goes to the next one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }

  async #review(token: string): Promise<string | undefined> {
    const { status, body } = await this.#api.request({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token, audiences: [TOKEN_AUDIENCE] },
      },
    });
    if (status !== 201) throw new Error(`a TokenReview has status ${status}`);
    const review = recordOf(recordOf(body)?.status);
    return review?.authenticated === true ? textField(review.user, "username") : undefined;
  }
}

interface Verdict {
  readonly user: string | undefined;
  readonly until: number;
}

function remember(
  verdicts: Map<string, Verdict>,
  digest: string,
  user: string | undefined,
  time: number,
): void {
  if (verdicts.size >= MAX_REMEMBERED) verdicts.clear();
  verdicts.set(digest, { user, until: performance.now() + time });
}
