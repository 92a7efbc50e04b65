import { timingSafeEqual } from "node:crypto";
import type { JsonObject } from "../../cel/variables.ts";
import { keyDigest, readApiKeyEntry } from "../../contents/api-key-entry.ts";
import { readWhole } from "../../http/buffer-body.ts";
import { noteSubject } from "../../http/caller-identity.ts";
import { type Exchange, logFields, type RefusalReason } from "../../http/exchange.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import { KeyError, KeyRegistry } from "../../store/key-registry.ts";
import { StoreError } from "../../store/store.ts";
import { InvalidToken } from "../jwt/invalid-token.ts";
import { type JwtProvider, JwtVerifier } from "../jwt/verifier.ts";
import { FailureLimit } from "./failure-limit.ts";
import { readCreation, readOverlap, readUpdate, shownKey } from "./key-request.ts";
import { keysApiDocument } from "./keys-api-document.ts";

/** Tokens for the API, and what their holders may do. */
interface TokenCheckSettings {
  readonly providers: readonly JwtProvider[];
  /** Whether a request is allowed, whose token is verified and is `attributes.jwt`. */
  readonly isAllowed: (request: Exchange) => boolean;
}

/** Checks the tokens of clients of the API for keys. */
class KeysApiTokenCheck {
  readonly #verifier: JwtVerifier;
  readonly #isAllowed: TokenCheckSettings["isAllowed"];

  constructor({ providers, isAllowed }: TokenCheckSettings) {
    const location = { header: "authorization", prefix: "Bearer " };
    this.#verifier = new JwtVerifier({ location, providers });
    this.#isAllowed = isAllowed;
  }

  /**
   * Returns whether the holder of a token may send a request, or the reason why the token is invalid for the log; `unavailable` if
   * it cannot be verified now.
   */
  async check(token: string, exchange: Exchange): Promise<string> {
    const claims = await this.#verifier.check(token, exchange.gateway);
    if (claims instanceof InvalidToken) return claims.reason;
    if (claims === "unavailable") return claims;
    exchange.attributes.jwt = claims;
    if (typeof claims.sub === "string") logFields(exchange.record).set("jwt.sub", claims.sub);
    noteSubject(exchange.record, claims);
    return this.#isAllowed(exchange) ? "allowed" : "denied";
  }
}

/** Settings of the API for keys: its clients send a key, a token, or either. */
export interface KeysApiSettings {
  /** File with the key of its clients: the key itself, or `{"keyHash": "sha256:..."}`; absent if it has none. */
  readonly keyFile?: string;
  /** Tokens that its clients may send; absent if it accepts none. */
  readonly jwt?: TokenCheckSettings;
}

/** Maximum bytes of a request. */
const MAX_BODY = 65_536;

/**
 * Opens the API that makes, lists, changes and revokes API keys of the store. Throws StartupError if the file with its own key
 * is unusable.
 */
export function openKeysApi({
  keyFile,
  jwt,
}: KeysApiSettings): (exchange: Exchange) => Promise<void> {
  const digest =
    keyFile === undefined
      ? undefined
      : new WatchedFile(keyFile, (text) => readApiKeyEntry(text).digest);
  const tokens = jwt && new KeysApiTokenCheck(jwt);
  const failures = new FailureLimit();
  return async (exchange) => {
    exchange.record.listener = "keys-api";
    exchange.record.route = "keys-api";
    const expected = { digest: digest?.usable(), tokens };
    if (!(await authenticate(exchange, expected, failures))) return;
    try {
      await serve(exchange);
    } catch (error) {
      if (error instanceof KeyError) respondProblem(exchange, STATUSES[error.kind], error.message);
      else if (error instanceof StoreError)
        respondProblem(exchange, 503, "the store does not respond", "StoreAway", [
          "retry-after",
          "1",
        ]);
      else throw error;
    }
  };
}

const STATUSES = { invalid: 400, absent: 404, taken: 409, changed: 409 } as const;

/** Credentials that are accepted. */
interface Expected {
  /** Digest of the key; `undefined` if there is no usable one. */
  readonly digest: string | undefined;
  readonly tokens: KeysApiTokenCheck | undefined;
}

async function authenticate(
  exchange: Exchange,
  { digest, tokens }: Expected,
  failures: FailureLimit,
): Promise<boolean> {
  const { remoteAddress } = exchange;
  const pause = failures.pause(remoteAddress);
  if (pause !== undefined) {
    const headers = ["retry-after", String(pause)];
    respondProblem(exchange, 429, "too many wrong keys from this address", "RateLimit", headers);
    return false;
  }
  const [, given] = /^Bearer +(\S+)$/i.exec(exchange.header("authorization") ?? "") ?? [];
  // Digests are compared, in constant time: neither length nor content of the key has an effect.
  const isRight =
    given !== undefined &&
    digest !== undefined &&
    timingSafeEqual(Buffer.from(keyDigest(given), "hex"), Buffer.from(digest, "hex"));
  if (isRight) return true;
  const verdict = given === undefined ? "no key" : await tokens?.check(given, exchange);
  if (verdict === "allowed") return true;
  if (verdict === "unavailable") {
    const headers = ["retry-after", "1"];
    respondProblem(exchange, 503, "tokens cannot be verified now", "JwtAuth", headers);
    return false;
  }
  if (verdict === "denied") {
    respondProblem(exchange, 403, "the rule of this API denies this request", "Authorization");
    return false;
  }
  failures.add(remoteAddress);
  logFields(exchange.record).set("error", verdict ?? "a wrong key");
  const challenge = ["www-authenticate", 'Bearer realm="keys"'];
  const what = tokens === undefined ? "a valid key" : "a valid token or key";
  respondProblem(exchange, 401, `${what} of this API is required`, "APIKeyAuth", challenge);
  return false;
}

async function serve(exchange: Exchange): Promise<void> {
  const { method, path, gateway } = exchange;
  if (path === "/openapi.json") return respond(exchange, 200, keysApiDocument);
  const place = placeOf(path);
  if (place === undefined || gateway.store === undefined)
    return respondProblem(exchange, 404, "there is no such path: see /openapi.json", "NotFound");
  const { name, isRotation } = place;
  const keys = new KeyRegistry(gateway.store);
  const action = ACTIONS[`${method}${name === undefined ? "" : isRotation ? " rotate" : " key"}`];
  if (action === undefined)
    return respondProblem(exchange, 405, `${method} is not possible here`, "BadRequest");
  const body = await readWhole(exchange, MAX_BODY, null);
  if (body === undefined) return;
  await action({ exchange, keys, name: name ?? "", body });
}

/** Splits `/v1/keys`, `/v1/keys/NAME` and `/v1/keys/NAME:rotate`; names may have slashes. */
function placeOf(
  path: string,
): { readonly name: string | undefined; readonly isRotation: boolean } | undefined {
  const [, name, last] = /^\/v1\/keys\/([^:]+)(:rotate)?$/.exec(path) ?? [];
  if (name === undefined)
    return path === "/v1/keys" ? { name: undefined, isRotation: false } : undefined;
  try {
    return { name: decodeURIComponent(name), isRotation: last !== undefined };
  } catch {
    return undefined;
  }
}

interface ApiCall {
  readonly exchange: Exchange;
  readonly keys: KeyRegistry;
  readonly name: string;
  readonly body: Buffer;
}

const ACTIONS: Readonly<Record<string, (call: ApiCall) => Promise<void>>> = {
  GET: list,
  POST: create,
  "GET key": show,
  "PATCH key": update,
  "DELETE key": revoke,
  "POST rotate": rotate,
};

async function list({ exchange, keys }: ApiCall): Promise<void> {
  const { keys: all, unreadable } = await keys.list();
  respond(exchange, 200, { keys: all.map(shownKey), unreadable });
}

async function create({ exchange, keys, body }: ApiCall): Promise<void> {
  const { name, choices } = readCreation(body);
  const { key } = await keys.create(name, choices);
  note(exchange, "create", name);
  respond(exchange, 201, { key, ...shownKey(await keys.show(name)) });
}

async function show({ exchange, keys, name }: ApiCall): Promise<void> {
  respond(exchange, 200, shownKey(await keys.show(name)));
}

async function update({ exchange, keys, name, body }: ApiCall): Promise<void> {
  const changed = await keys.update(name, readUpdate(body));
  note(exchange, "update", name);
  respond(exchange, 200, shownKey(changed));
}

async function rotate({ exchange, keys, name, body }: ApiCall): Promise<void> {
  const { key } = await keys.rotate(name, readOverlap(body));
  note(exchange, "rotate", name);
  respond(exchange, 200, { key, ...shownKey(await keys.show(name)) });
}

async function revoke({ exchange, keys, name }: ApiCall): Promise<void> {
  const revoked = await keys.revoke(name);
  note(exchange, "revoke", name);
  respond(exchange, 200, { revoked });
}

function note({ record }: Exchange, action: string, name: string): void {
  logFields(record).set("keys.action", action).set("keys.name", name);
}

const JSON_HEADERS = ["content-type", "application/json", "cache-control", "no-store"];

function respond(exchange: Exchange, status: number, value: JsonObject): void {
  exchange.respond(status, JSON_HEADERS, JSON.stringify(value));
}

function respondProblem(
  exchange: Exchange,
  status: number,
  message: string,
  reason: RefusalReason = "BadRequest",
  headers: readonly string[] = [],
): void {
  exchange.record.reason = reason;
  const body = JSON.stringify({ error: { status, message } });
  exchange.respond(status, [...JSON_HEADERS, ...headers], body);
}
