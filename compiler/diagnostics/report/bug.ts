import { version } from "../../installation.ts";

/**
 * Describes an error of gwc itself. Messages of errors can quote the configuration or the environment, so only the kind
 * of error and its places in gwc are shown, unless the user asks for more.
 */
export function bugReport(error: unknown, isDebug: boolean): string {
  const name = error instanceof Error ? error.constructor.name : typeof error;
  const places = error instanceof Error ? (error.stack ?? "").split("\n") : [];
  const about = isDebug ? [String(error)] : [];
  return [
    `error: this is a bug in gwc ${version()} (Node.js ${process.versions.node}): ${name}`,
    ...about,
    ...places.filter((line) => /^\s+at /.test(line)).slice(0, 12),
    "Please report it with the lines above.",
    ...(isDebug
      ? []
      : [
          "They contain nothing of your configuration; GWC_DEBUG=1 adds the error's own message, which may.",
        ]),
    "",
  ].join("\n");
}
