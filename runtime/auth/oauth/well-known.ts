import type { Exchange } from "../../http/exchange.ts";
import { startupError } from "../../process/startup-error.ts";

/** RFC 9728 3.1. The path of the resource follows. */
const PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource";
/** RFC 8414 3.1. The path of the issuer follows. */
export const AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server";
/** OpenID Connect Discovery under the name of RFC 8414 5. Some clients request nothing else. */
export const OPENID_CONFIGURATION = "/.well-known/openid-configuration";

/** Whether a request is for OAuth metadata rather than for the MCP endpoint. */
export function isOAuthPath({ path }: Exchange): boolean {
  return (
    path.startsWith("/.well-known/o") &&
    (pathAfter(path, PROTECTED_RESOURCE) ?? authorizationServerPath(path)) !== undefined
  );
}

/** Returns the path of the protected resource of a metadata path; `undefined` for any other path. */
export function protectedResourcePath(path: string): string | undefined {
  return pathAfter(path, PROTECTED_RESOURCE);
}

/** Returns the path of the issuer of a metadata path; `undefined` for any other path. */
export function authorizationServerPath(path: string): string | undefined {
  return pathAfter(path, AUTHORIZATION_SERVER) ?? pathAfter(path, OPENID_CONFIGURATION);
}

/**
 * Returns the scheme and authority that the client used. Trusts X-Forwarded-Proto from a proxy that terminates TLS, because
 * it can only turn `http` into `https` in the sender's own response.
 */
export function publicBase(exchange: Exchange): string {
  const { scheme, host } = exchange.original;
  const isHttps = scheme === "https" || exchange.header("x-forwarded-proto") === "https";
  return `${isHttps ? "https" : "http"}://${host}`;
}

/** Returns the URL of the requested resource's metadata, escaped for a quoted string. */
export function resourceMetadataUrl(exchange: Exchange): string {
  return quotable(`${publicBase(exchange)}${PROTECTED_RESOURCE}${suffix(exchange.pathAndQuery)}`);
}

/** The root has no path of its own: RFC 9728 3.1 removes a trailing slash. */
function suffix(target: string): string {
  if (target === "/") return "";
  return target.startsWith("/?") ? target.slice(1) : target;
}

/** Returns the rest of a path after a well-known name, empty or a path; `undefined` for any other path. */
export function pathAfter(path: string, name: string): string | undefined {
  if (!path.startsWith(name)) return undefined;
  const after = path.slice(name.length);
  return after === "" || after.startsWith("/") ? after : undefined;
}

function quotable(url: string): string {
  return url.replace(/[^!#-[\]-~]/g, (character) => encodeURIComponent(character));
}

/**
 * Returns the URLs where an issuer's metadata may be, in the order to try: RFC 8414 3.1 inserts the well-known name before
 * the issuer's path, OpenID Connect Discovery appends it. Throws StartupError if the issuer is not a URL.
 */
export function metadataUrls(issuer: string): readonly string[] {
  if (!URL.canParse(issuer))
    throw startupError(`the issuer of mcpAuthentication is not a URL: ${issuer}`);
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const before = [
    `${origin}${AUTHORIZATION_SERVER}${path}`,
    `${origin}${OPENID_CONFIGURATION}${path}`,
  ];
  return path === "" ? before : [...before, `${origin}${path}${OPENID_CONFIGURATION}`];
}
