import { type Diagnostics, formatPath, type Place, placeKey } from "./diagnostic.ts";

/**
 * Runs the work for one object or part of a configuration. An error that it throws is a bug of gwc: it is reported at
 * `at`, and everything else is compiled. Returns `undefined` if the work threw an error.
 */
export function guarded<Value>(
  at: Place,
  diagnostics: Diagnostics,
  work: () => Value,
): Value | undefined {
  try {
    return work();
  } catch (error) {
    const key = placeKey(at);
    // A shared part is processed for each of its users.
    const isKnown = diagnostics.list.some(
      (each) => each.code === "internal-error" && placeKey(each.at) === key,
    );
    if (!isKnown)
      diagnostics.report("internal-error", at, { what: subjectOf(at), error: errorPlace(error) });
    return undefined;
  }
}

/** Names the object of a place: `"GatewayBackend default/tools"`, or the path in a standalone file. */
function subjectOf({ resource, path, file }: Place): string {
  if (resource !== undefined) return `"${resource.name}"`;
  return path.length === 0 ? `"${file}"` : `"${formatPath(path)}"`;
}

/**
 * Describes the kind of an error and its place in gwc. Its message is omitted because it may quote the configuration.
 */
function errorPlace(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const place = /at (?:(\S+) \()?[^()]*?([^/\\()]+:\d+):\d+\)?$/m.exec(error.stack ?? "");
  const [, of, line] = place ?? [];
  return [error.name, of && `in ${of}`, line && `(${line})`]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
}
