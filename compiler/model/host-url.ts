import { canonicalPath } from "../../runtime/http/routing/path.ts";
import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { isOwnPort } from "./own-ports.ts";
import { type EnvTemplate, shownText, type Text } from "./texts.ts";

/** Formats host and port for a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Returns the URL of a plain HTTP upstream; reports and returns `undefined` if it is invalid. */
function hostUrl(host: Text, origin: Origin, diagnostics: Diagnostics): Text | undefined {
  const url = withScheme(host);
  return checkUrl(url, origin, diagnostics) ? url : undefined;
}

/**
 * Returns the URL of a server that requests are forwarded to, with a normalized base path; reports and returns
 * `undefined` if it is invalid. Without a scheme it must have a port, because no default is assumed.
 */
export function forwardUrl(host: Text, origin: Origin, diagnostics: Diagnostics): Text | undefined {
  const url = hostUrl(host, origin, diagnostics);
  if (typeof host !== "string") return checkParts(host, origin, diagnostics) ? url : undefined;
  if (typeof url !== "string") return undefined;
  const { port, pathname, search, origin: server } = new URL(url);
  if (!host.includes("://") && port === "" && !/:80(?:\/|$)/.test(host)) {
    reportHost(host, "host:port, or an http:// or https:// URL", origin, diagnostics);
    return undefined;
  }
  if (search !== "" || url.includes("?")) {
    diagnostics.report("query-in-host", origin, { host });
    return undefined;
  }
  if (pathname === "/") return url;
  const path = canonicalPath(pathname);
  if (path !== undefined) return `${server}${path.replace(/\/$/, "")}`;
  diagnostics.report("path-never-sent", origin, { path: pathname, form: undefined });
  return undefined;
}

/**
 * Returns the URL of a server as `forwardUrl` does, or a Unix socket such as `unix:/run/agent.sock` unchanged. With
 * `isSecure`, sockets are refused, because TLS cannot verify their name.
 */
export function serverUrl(
  host: Text,
  isSecure: boolean,
  origin: Origin,
  diagnostics: Diagnostics,
): Text | undefined {
  if (typeof host !== "string" || !host.startsWith("unix:")) {
    return forwardUrl(host, origin, diagnostics);
  }
  if (!/^unix:\/[!-~]{1,106}$/.test(host) || /[?#%]/.test(host)) {
    const expected = "unix: and the absolute path of a socket, at most 107 characters long";
    reportHost(host, expected, origin, diagnostics);
    return undefined;
  }
  if (!isSecure) return host;
  diagnostics.report("tls-to-socket", origin, { host });
  return undefined;
}

/** Checks that the known parts of an address have no query; the rest is checked when the gateway starts. */
function checkParts(text: EnvTemplate, origin: Origin, diagnostics: Diagnostics): boolean {
  const known = text.parts.map((part) => (typeof part === "string" ? part : (part.fallback ?? "")));
  if (!known.some((part) => /[?#]/.test(part))) return true;
  diagnostics.report("query-in-host", origin, { host: shownText(text) });
  return false;
}

/** Returns the address with `http://` if it has no scheme. */
export function withScheme(text: Text): Text {
  if (typeof text === "string") return text.includes("://") ? text : `http://${text}`;
  const [first, ...rest] = text.parts;
  if (typeof first !== "string" || first.includes("://")) return text;
  return { kind: "env", parts: [`http://${first}`, ...rest] };
}

/** Checks that a string is the URL of an HTTP server, without user name and fragment; reports it if not. */
export function checkUrl(url: Text, origin: Origin, diagnostics: Diagnostics): boolean {
  if (typeof url !== "string") return true;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (
    isHttp &&
    HOST_NAME.test(parsed.hostname) &&
    parsed.port !== "0" &&
    parsed.username === "" &&
    parsed.password === "" &&
    parsed.hash === ""
  ) {
    if (!isOwnPort(parsed)) return true;
    diagnostics.report("own-port", origin, { host: parsed.host });
    return false;
  }
  const expected = "host:port, or an http:// or https:// URL without user name";
  reportHost(url, expected, origin, diagnostics);
  return false;
}

/** Pattern of a name or address in a URL, as the URL parser normalizes it. */
const HOST_NAME = /^(?:[\w.-]+|\[[0-9a-f:.]+\])$/;

function reportHost(
  host: string,
  expected: string,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const advice = hostAdvice(host);
  diagnostics.report("bad-format", origin, { field: '"host"', expected, advice });
}

/** Returns a hint for an invalid address; `undefined` if there is none. */
function hostAdvice(host: string): string | undefined {
  if (host.includes("{{"))
    return "this looks like a Helm template: render it with `helm template` first";
  const [, variable] = /\$\{?([A-Za-z_]\w*)/.exec(host) ?? [];
  if (variable !== undefined) return `write a variable as \${${variable}}`;
  const [, scheme, server] = /^(grpcs?|h2c?|wss?):\/\/([\w.-]+(?::[0-9]+)?)\/?$/.exec(host) ?? [];
  if (scheme !== undefined) return schemeAdvice(scheme, server ?? "");
  if (host.includes("@")) return "write credentials in `backendAuth`";
  const [, name = "", gap = "", ownPort] =
    /^(?:https?:\/\/)?([\w.-]*):( *)([0-9]+)$/.exec(host) ?? [];
  if (Number(ownPort) > 65_535) return "the maximum port is 65535";
  if (ownPort !== undefined && name === "") return `add the host: 127.0.0.1:${ownPort}`;
  if (gap !== "") return `write ${name}:${ownPort}`;
  if (!/^[\w.-]+$/.test(host)) return undefined;
  const port = `add the port: ${host}:8080`;
  return /\.[a-z]{2,}$/i.test(host) ? `write https://${host}, or ${port}` : port;
}

/** Returns a hint for a URL of gRPC, HTTP/2 or WebSockets, which run over HTTP. */
function schemeAdvice(scheme: string, server: string): string {
  const http = `${["grpcs", "wss"].includes(scheme) ? "https" : "http"}://${server}`;
  return scheme.startsWith("ws")
    ? `write ${http}: WebSockets pass through it`
    : `write ${http}, and policies: { http: { version: HTTP2 } }`;
}

/** Returns the URL of a backend with `https` if a TLS policy is configured, which overrides the scheme. */
export function secureUrl(url: Text, { tls }: { readonly tls?: unknown }): Text {
  if (tls === undefined) return url;
  if (typeof url === "string") return url.replace(/^http:/, "https:");
  const [first = "", ...rest] = url.parts;
  if (typeof first !== "string") return { kind: "env", parts: ["https://", first, ...rest] };
  return { kind: "env", parts: [first.replace(/^http:/, "https:"), ...rest] };
}
