/** The scheme of resources that clients render as apps; clients do not render others (MCP Apps, 2026-01-26). */
const SCHEME = "ui://";

/** Returns the URI of a target's app for clients: `ui://target/rest`; `undefined` if it is not the URI of an app. */
export function clientAppUri(target: string, uri: string): string | undefined {
  return uri.startsWith(SCHEME) ? SCHEME + target + uri.slice(SCHEME.length - 1) : undefined;
}

/** Returns the target's URI of an app that the client names; `undefined` if it is not an app of this target. */
export function targetAppUri(target: string, uri: string): string | undefined {
  const prefix = `${SCHEME}${target}/`;
  return uri.startsWith(prefix) ? SCHEME + uri.slice(prefix.length) : undefined;
}

/**
 * Returns JSON text with the client's URIs of apps in `resourceUri` of `_meta.ui`, and in `ui/resourceUri` of earlier versions
 * of the extension. Some servers escape slashes.
 */
export function withAppUris(text: string, target: string): string {
  return text.replace(/(["/]resourceUri"\s*:\s*"ui:(?:\\?\/){2})/g, `$1${target}/`);
}
