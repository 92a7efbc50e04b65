/**
 * Returns the part of a request's path after an API's path: empty for the API itself, `/resp_1/cancel` below it; `undefined`
 * for any other path. Any prefix before the API's path is accepted.
 */
export function restOfPath(path: string, api: string): string | undefined {
  if (path.endsWith(api)) return "";
  const at = path.lastIndexOf(`${api}/`);
  return at === -1 ? undefined : path.slice(at + api.length);
}

/** Whether a request's path is that of an API, or below it. */
export function isOfApi(path: string, api: string): boolean {
  return restOfPath(path, api) !== undefined;
}
