import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { startupError } from "./startup-error.ts";

/**
 * Returns a value of the environment at startup. If it is unset and has no fallback, throws a StartupError that names the
 * variable; uncaught, the process prints that line and exits with 1.
 */
export function env(name: string, fallback?: string): string {
  const value = process.env[name] ?? fallback;
  if (value === undefined) {
    throw startupError(`the environment variable ${name} is not set`);
  }
  return value;
}

/**
 * Returns a value of the environment for the host of a URL. Throws StartupError if it contains other characters than a host and
 * port, which would change the destination of the URL.
 */
export function hostPart(name: string, fallback?: string): string {
  return urlPart(name, fallback, /[^\w.~:[\]-]/, "a part of a host name or a port");
}

/**
 * Returns a value of the environment that is everything of a URL after its scheme. Throws StartupError if it contains user
 * information, or characters that URL parsers read in different ways.
 */
export function authorityAndPath(name: string, fallback?: string): string {
  return urlPart(name, fallback, /[@\\\s\0-\x1f\x7f]/, "host:port, or host:port/path");
}

/** Returns a value of the environment for the part of a URL after the host, where no query, fragment or parameter may begin. */
export function pathPart(name: string, fallback?: string): string {
  return urlPart(name, fallback, /[?#&\\\s\0-\x1f\x7f]/, "a part of a path or one parameter");
}

function urlPart(
  name: string,
  fallback: string | undefined,
  forbidden: RegExp,
  form: string,
): string {
  const value = env(name, fallback);
  if (forbidden.test(value)) throw startupError(`the environment variable ${name} must be ${form}`);
  return value;
}

/**
 * Returns the absolute path of a file that the gateway reads at run time. Relative paths start at GWC_CONFIG_DIR if the file
 * exists there, otherwise at the working directory.
 */
export function file(path: string): string {
  const configured = resolve(process.env.GWC_CONFIG_DIR ?? ".", path);
  const working = resolve(path);
  return !existsSync(configured) && existsSync(working) ? working : configured;
}

/** Returns the absolute path of a key of a mounted Secret (NAME/KEY), below GWC_SECRETS_DIR or /etc/gwc/secrets. */
export function secretFile(path: string): string {
  return resolve(secretsFolder(), path);
}

/** Returns the absolute path of a key of a mounted ConfigMap (NAME/KEY), below GWC_CONFIG_MAPS_DIR or /etc/gwc/config-maps. */
export function configMapFile(path: string): string {
  return resolve(configMapsFolder(), path);
}

/** Returns the folder in which the Secret or ConfigMap of a path is mounted; `undefined` if the path is in neither. */
export function mountFolderOf(path: string): string | undefined {
  return [secretsFolder(), configMapsFolder()]
    .map((folder) => resolve(folder))
    .find((folder) => path.startsWith(folder + sep));
}

function secretsFolder(): string {
  return process.env.GWC_SECRETS_DIR ?? "/etc/gwc/secrets";
}

function configMapsFolder(): string {
  return process.env.GWC_CONFIG_MAPS_DIR ?? "/etc/gwc/config-maps";
}

/** Returns the same for an upstream that is reached over TLS, whatever the environment says about it. */
export function httpsUrl(text: string): string {
  return httpUrl(text).replace(/^http:/, "https:");
}

/**
 * Returns the same for an upstream that requests are forwarded to. Its path is put before theirs, and a query would be lost, so
 * it throws StartupError for a query.
 */
export function baseUrl(text: string): string {
  const url = httpUrl(text);
  if (/[?#]/.test(url))
    throw startupError(
      "the address of a backend has a query or a fragment, which requests cannot keep",
    );
  return url;
}

/** Returns the base URL of an API from the environment; an address without a path gets `path`. Throws as `baseUrl` does. */
export function apiUrl(text: string, path: string): string {
  const url = baseUrl(text);
  return new URL(url).pathname === "/" ? url.replace(/\/$/, "") + path : url;
}

/**
 * Returns the URL of an upstream from the environment: `host:port` means plain HTTP. Throws StartupError if it is not a URL.
 */
export function httpUrl(text: string): string {
  const url = text.includes("://") ? text : `http://${text}`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== "") {
    throw startupError(
      "the address of an upstream is neither host:port nor an http:// or https:// URL",
    );
  }
  return url;
}
