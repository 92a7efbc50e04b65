import { type ClientBounds, MAX_CLIENT_URL } from "./front-settings.ts";

/** A client, as it describes itself. */
export interface ClientDescription {
  /** `undefined` if it has no name. */
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
}

/** Reason why a client is refused (RFC 7591 3.2.2). The text is for the client's developer. */
export interface ClientProblem {
  readonly error: "invalid_redirect_uri" | "invalid_client_metadata";
  readonly text: string;
}

const MAX_NAME = 100;
const MAX_REDIRECT_URIS = 16;
/** Maximum characters of all redirect URIs of a client, because its id contains them. */
const MAX_REDIRECTS = 2_000;

/** Reads the metadata of a client (RFC 7591 2), and checks them against the bounds. */
export function readClient(
  metadata: unknown,
  bounds: ClientBounds,
): ClientDescription | ClientProblem {
  const found: Readonly<Record<string, unknown>> = Object(metadata);
  const { redirect_uris: uris, client_name: name } = found;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    return problem("invalid_redirect_uri", `redirect_uris has 1 to ${MAX_REDIRECT_URIS} URIs`);
  const redirectUris: string[] = [];
  for (const uri of uris) {
    if (typeof uri !== "string" || !isRedirectAllowed(uri, bounds))
      return problem("invalid_redirect_uri", "the gateway does not allow one of the redirect URIs");
    redirectUris.push(uri);
  }
  if (redirectUris.join("").length > MAX_REDIRECTS)
    return problem("invalid_redirect_uri", "the redirect URIs are too long");
  if (name !== undefined && (typeof name !== "string" || !isName(name)))
    return problem("invalid_client_metadata", `client_name has 1 to ${MAX_NAME} visible letters`);
  if (!isNameAllowed(name, bounds))
    return problem("invalid_client_metadata", "the gateway does not allow this client_name");
  if (!includesWord(found.grant_types, "authorization_code"))
    return problem("invalid_client_metadata", "grant_types must include authorization_code");
  if (!includesWord(found.response_types, "code"))
    return problem("invalid_client_metadata", "response_types must include code");
  return { name, redirectUris };
}

/** Whether a client that was accepted earlier is still within the bounds. */
export function isWithinBounds(client: ClientDescription, bounds: ClientBounds): boolean {
  return (
    isNameAllowed(client.name, bounds) &&
    client.redirectUris.every((uri) => isRedirectAllowed(uri, bounds))
  );
}

/** Whether the URL of a document may be the id of a client. */
export function isDocumentAllowed(url: string, { clientDocuments }: ClientBounds): boolean {
  return (
    url.startsWith("https://") &&
    isCanonical(url) &&
    clientDocuments.some((pattern) => matches(url, pattern))
  );
}

/** Whether a redirect URI is allowed and one of a client's own; a loopback one has any port (RFC 8252 7.3). */
export function isRedirectOf(
  uri: string,
  { redirectUris }: ClientDescription,
  bounds: ClientBounds,
): boolean {
  if (!isRedirectAllowed(uri, bounds)) return false;
  const loopback = withoutPort(uri);
  return redirectUris.some(
    (own) => own === uri || (loopback !== undefined && withoutPort(own) === loopback),
  );
}

function isRedirectAllowed(uri: string, { redirectUris }: ClientBounds): boolean {
  return (
    isCanonical(uri) &&
    redirectUris.some(
      (pattern) =>
        matches(normalized(uri), pattern) ||
        // A pattern with a port allows only this port.
        (new URL(pattern).port === "" && matches(withoutPort(uri) ?? "", pattern)),
    )
  );
}

function problem(error: ClientProblem["error"], text: string): ClientProblem {
  return { error, text };
}

/** Letters without controls and invisible characters, with which names could imitate others or change the text around them. */
function isName(name: string): boolean {
  return name.length <= MAX_NAME && name.trim() !== "" && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name);
}

function isNameAllowed(name: string | undefined, { clientNames }: ClientBounds): boolean {
  if (clientNames === undefined) return true;
  return name !== undefined && clientNames.some((pattern) => hasPattern(name, pattern));
}

function hasPattern(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function includesWord(value: unknown, word: string): boolean {
  return value === undefined || (Array.isArray(value) && value.includes(word));
}

/**
 * Whether every parser reads a URL in the same way: without a user, a fragment, dot segments, or characters that some parsers
 * replace.
 */
function isCanonical(text: string): boolean {
  if (text.length > MAX_CLIENT_URL || !/^[a-z][!$&-;=?-[\]_a-z~%]*$/.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const { username, password, hash } = new URL(text);
  return username + password + hash === "" && [text, `${text}/`].includes(new URL(text).href);
}

function normalized(uri: string): string {
  return new URL(uri).href;
}

/** Whether a URL matches a pattern, in which `*` replaces the rest of a path. */
function matches(url: string, pattern: string): boolean {
  if (!pattern.endsWith("*")) return url === normalized(pattern);
  const start = pattern.slice(0, -1);
  return url.startsWith(start) && /^[A-Za-z0-9._~/-]*$/.test(url.slice(start.length));
}

/** Returns a loopback redirect URI without its port; `undefined` for another one. */
function withoutPort(uri: string): string | undefined {
  if (!/^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?=[:/]|$)/.test(uri)) return undefined;
  const url = new URL(uri);
  url.port = "";
  return url.href;
}
