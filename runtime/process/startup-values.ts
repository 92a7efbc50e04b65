import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { startupError } from "./startup-error.ts";

/**
 * A value that the environment gives when the gateway starts. Throws StartupError naming the variable when it is unset
 * and there is no fallback; uncaught, the process ends with 1 and that one line.
 */
export function env(name: string, fallback?: string): string {
  const value = process.env[name] ?? fallback;
  if (value === undefined) {
    throw startupError(`the environment variable ${name} is not set`);
  }
  return value;
}

/**
 * A value of the environment inside the host of a URL. Throws StartupError if it holds what a host and port do not: it would
 * change where the URL leads.
 */
export function hostPart(name: string, fallback?: string): string {
  const value = env(name, fallback);
  if (!/^[\w.~:[\]-]*$/.test(value))
    throw startupError(`the environment variable ${name} must be a part of a host name or a port`);
  return value;
}

/**
 * A value of the environment that is all of a URL after its scheme. Throws StartupError if it holds user information, or
 * characters that URL parsers read in different ways.
 */
export function authorityAndPath(name: string, fallback?: string): string {
  const value = env(name, fallback);
  if (/[@\\\s\0-\x1f\x7f]/.test(value))
    throw startupError(`the environment variable ${name} must be host:port, or host:port/path`);
  return value;
}

/** The same behind the host: no query, fragment or parameter begins in the value. */
export function pathPart(name: string, fallback?: string): string {
  const value = env(name, fallback);
  if (/[?#&\\\s\0-\x1f\x7f]/.test(value))
    throw startupError(
      `the environment variable ${name} must be a part of a path or one parameter`,
    );
  return value;
}

/**
 * The absolute path of a file that the gateway reads at run time: relative ones start at GWC_CONFIG_DIR when they are
 * there, else at the working directory.
 */
export function file(path: string): string {
  const configured = resolve(process.env.GWC_CONFIG_DIR ?? ".", path);
  const working = resolve(path);
  return !existsSync(configured) && existsSync(working) ? working : configured;
}

/** The absolute path of a key of a mounted Secret, NAME/KEY: below GWC_SECRETS_DIR, else /etc/gwc/secrets. */
export function secretFile(path: string): string {
  return resolve(secretsFolder(), path);
}

/** The absolute path of a key of a mounted ConfigMap, NAME/KEY: below GWC_CONFIG_MAPS_DIR, else /etc/gwc/config-maps. */
export function configMapFile(path: string): string {
  return resolve(configMapsFolder(), path);
}

/** The folder that the Secret or ConfigMap of a path is mounted in; `undefined` if the path is in neither. */
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

/** The same of an upstream that is reached over TLS, whatever the environment says about it. */
export function httpsUrl(text: string): string {
  return httpUrl(text).replace(/^http:/, "https:");
}

/**
 * The same of an upstream that requests are passed on to: its path is put before theirs, and a query would be lost. Throws
 * StartupError for one.
 */
export function baseUrl(text: string): string {
  const url = httpUrl(text);
  if (/[?#]/.test(url))
    throw startupError(
      "the address of a backend has a query or a fragment, which no request would carry",
    );
  return url;
}

/** The URL of an upstream that the environment names: `host:port` is plain HTTP. Throws StartupError when it is no URL. */
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
