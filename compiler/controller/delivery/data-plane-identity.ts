import { createHash } from "node:crypto";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";

/** For whom the tokens of data planes are made: one that was made for anybody else is not taken. */
export const TOKEN_AUDIENCE = "gwc.dev/controller";

/** How long a token that was found good is not looked up again, in milliseconds, and how many are remembered. */
const REMEMBERED = 60_000;
const MOST_REMEMBERED = 10_000;

/** Says whose a token is, by the API server (TokenReview). */
export class DataPlaneIdentity {
  readonly #api: ApiServer;
  /** Users by the digests of their tokens. */
  readonly #known: Map<string, { readonly user: string; readonly until: number }> = new Map();

  constructor(api: ApiServer) {
    this.#api = api;
  }

  /** `system:serviceaccount:NAMESPACE:NAME`; undefined: the token is not good. Rejects when nobody can say. */
  async userOf(token: string): Promise<string | undefined> {
    const digest = createHash("sha256").update(token).digest("hex");
    const now = performance.now();
    const known = this.#known.get(digest);
    if (known !== undefined && known.until > now) return known.user;
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
    const user = textField(review?.user, "username");
    if (review?.authenticated !== true || user === undefined) return undefined;
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
    this.#known.set(digest, { user, until: now + REMEMBERED });
    return user;
  }
}
