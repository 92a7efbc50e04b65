import { credentialIn, stripCredential } from "../auth/credentials.ts";
import { passwordPool } from "../auth/password/password-pool.ts";
import { type Login, VerifiedLogins } from "../auth/password/verified-logins.ts";
import { refuseCredential } from "../auth/refuse-credential.ts";
import { PasswordFile } from "../contents/password-file.ts";
import { noteCaller } from "../http/caller-identity.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { type CredentialLocation, locationName } from "../http/headers/credential-location.ts";
import { refuse } from "../http/refuse.ts";
import { startupError } from "../process/startup-error.ts";
import { WatchedFile } from "../process/watched-file.ts";

/** The users of a route, and where their logins are sent. */
export interface BasicAuthSettings {
  /** The realm in `WWW-Authenticate` (RFC 7617 2). */
  readonly realm: string;
  readonly location: CredentialLocation;
  readonly passwords: PasswordFile | WatchedFile<PasswordFile>;
}

/** A user who has logged in. */
export interface BasicUser {
  readonly username: string;
}

/** The users of a route, ready for use. */
export interface BasicAuth {
  readonly realm: string;
  readonly location: CredentialLocation;
  passwords(): PasswordFile;
  readonly logins: VerifiedLogins;
}

/** Parses users and hashes in htpasswd format. Throws StartupError. */
export function htpasswd(text: string): PasswordFile {
  try {
    return new PasswordFile(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw startupError(`invalid passwords of basicAuth: ${reason}`);
  }
}

/** Opens an htpasswd file, which is reread when it changes. Throws StartupError. */
export function htpasswdFile(path: string): WatchedFile<PasswordFile> {
  return new WatchedFile(path, (text) => new PasswordFile(text));
}

/** Prepares the users of a route. */
export function openBasicAuth({ realm, location, passwords }: BasicAuthSettings): BasicAuth {
  return {
    realm,
    location,
    passwords: () => (passwords instanceof WatchedFile ? passwords.current() : passwords),
    logins: new VerifiedLogins(),
  };
}

/**
 * Strict mode: returns the user, or `undefined` if the request was refused (401, or 503 if too many password checks are
 * queued).
 */
export async function requireBasicAuth(
  exchange: Exchange,
  auth: BasicAuth,
): Promise<BasicUser | undefined> {
  const login = loginOf(exchange, auth);
  if (login === undefined)
    return refuseLogin(exchange, auth, `no valid login in ${locationName(auth.location)}`);
  const verdict = await verdictOn(login, exchange, auth);
  if (verdict === "busy") {
    const busy = "too many logins are queued";
    logFields(exchange.record).set("error", busy);
    refuse(exchange, 503, "BasicAuth", `authentication failure: ${busy}`, ["retry-after", "1"]);
    return undefined;
  }
  if (!verdict) return refuseLogin(exchange, auth, "wrong user or password");
  return consume(exchange, login, auth);
}

/** Optional mode: like strict mode if the request has a login; otherwise returns null. */
export async function acceptBasicAuth(
  exchange: Exchange,
  auth: BasicAuth,
): Promise<BasicUser | null | undefined> {
  return credentialIn(exchange, auth.location, "basicAuth") === undefined
    ? null
    : requireBasicAuth(exchange, auth);
}

/**
 * Permissive mode: returns the user of a valid login, otherwise null; refuses nothing. An invalid login is forwarded
 * upstream.
 */
export async function observeBasicAuth(
  exchange: Exchange,
  auth: BasicAuth,
): Promise<BasicUser | null> {
  const login = loginOf(exchange, auth);
  if (login === undefined) return null;
  const verdict = await verdictOn(login, exchange, auth);
  return verdict === true ? consume(exchange, login, auth) : null;
}

function verdictOn(
  login: Login,
  { gateway }: Exchange,
  auth: BasicAuth,
): boolean | "busy" | Promise<boolean> {
  return auth.logins.check(auth.passwords(), login, () => passwordPool(gateway));
}

function consume(exchange: Exchange, { username }: Login, { location }: BasicAuth): BasicUser {
  stripCredential(exchange, location, "basicAuth");
  exchange.record.caller = `user ${username}`;
  noteCaller(exchange.record, { kind: "user", name: username });
  return { username };
}

/** `why` is for the log. */
function refuseLogin(exchange: Exchange, { realm, location }: BasicAuth, why: string): undefined {
  logFields(exchange.record).set("error", why);
  refuseCredential(exchange, location, {
    reason: "BasicAuth",
    message: "authentication failure: a valid login is required",
    challenge: `Basic realm="${realm.replace(/["\\]/g, "\\$&")}", charset="UTF-8"`,
  });
}

/** Maximum number of bytes of a login, which limits the cost of hashing. */
const MAX_LOGIN = 1024;

/** Returns user and password (RFC 7617 2), split at the first colon; control characters are not allowed. */
function loginOf(exchange: Exchange, { location }: BasicAuth): Login | undefined {
  const encoded = credentialIn(exchange, location, "basicAuth");
  if (encoded === undefined) return undefined;
  if (encoded.length > MAX_LOGIN || !/^[A-Za-z0-9+/]+=*$/.test(encoded)) return undefined;
  const login = Buffer.from(encoded, "base64").toString("utf8");
  const colon = login.indexOf(":");
  if (colon === -1 || /[\u0000-\u001f\u007f\ufffd]/.test(login)) return undefined;
  const source = exchange.remoteAddress;
  return { username: login.slice(0, colon), password: login.slice(colon + 1), source };
}
