import type { Exchange } from "../../http/exchange.ts";
import { startupError } from "../../process/startup-error.ts";

/** RFC 9728 3.1. The path of the resource follows. */
export const PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource";
/** RFC 8414 3.1. The path of the issuer follows. */
export const AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server";
/** OpenID Connect Discovery under the name that RFC 8414 5 gives it; some clients ask for nothing else. */
export const OPENID_CONFIGURATION = "/.well-known/openid-configuration";

/** Whether a request is for OAuth metadata rather than for the MCP endpoint. */
export function isOAuthPath({ path }: Exchange): boolean {
  return (
    path.startsWith("/.well-known/o") &&
    (pathAfter(path, PROTECTED_RESOURCE) ?? authorizationServerPath(path)) !== undefined
  );
}

/** The path of the protected resource that a metadata path is about; undefined for any other path. */
export function protectedResourcePath(path: string): string | undefined {
  return pathAfter(path, PROTECTED_RESOURCE);
}

/** The path of the issuer that a metadata path is about; undefined for any other path. */
export function authorizationServerPath(path: string): string | undefined {
  return pathAfter(path, AUTHORIZATION_SERVER) ?? pathAfter(path, OPENID_CONFIGURATION);
}

/**
 * Scheme and authority as the client typed them. A proxy that ends TLS in front says so in X-Forwarded-Proto; nothing
 * else is taken from there: all it can do is make `https` of `http` in the sender's own response.
 */
export function publicBase(exchange: Exchange): string {
  const { scheme, host } = exchange.original;
  const isHttps = scheme === "https" || exchange.header("x-forwarded-proto") === "https";
  return `${isHttps ? "https" : "http"}://${host}`;
}

/** Where the metadata of the requested resource is, safe inside a quoted string. */
export function resourceMetadataUrl(exchange: Exchange): string {
  return quotable(`${publicBase(exchange)}${PROTECTED_RESOURCE}${suffix(exchange.pathAndQuery)}`);
}

/** The root has no path of its own: RFC 9728 3.1 removes a slash that nothing follows. */
function suffix(target: string): string {
  if (target === "/") return "";
  return target.startsWith("/?") ? target.slice(1) : target;
}

/** What follows a well-known name in a path, nothing or a path; undefined for any other path. */
export function pathAfter(path: string, name: string): string | undefined {
  if (!path.startsWith(name)) return undefined;
  const after = path.slice(name.length);
  return after === "" || after.startsWith("/") ? after : undefined;
}

function quotable(url: string): string {
  return url.replace(/[^!#-[\]-~]/g, (character) => encodeURIComponent(character));
}

/**
 * Where an issuer's metadata may be, in the order to try: RFC 8414 3.1 puts the well-known name before the issuer's path,
 * OpenID Connect Discovery behind it. Throws StartupError for what is no URL.
 */
export function metadataUrls(issuer: string): readonly string[] {
  if (!URL.canParse(issuer))
    throw startupError(`the issuer of mcpAuthentication is no URL: ${issuer}`);
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const before = [
    `${origin}${AUTHORIZATION_SERVER}${path}`,
    `${origin}${OPENID_CONFIGURATION}${path}`,
  ];
  return path === "" ? before : [...before, `${origin}${path}${OPENID_CONFIGURATION}`];
}
