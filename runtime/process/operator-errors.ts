import { OfferedValue } from "./offered-values.ts";

type Format = "text" | "json";

const FORMAT = new OfferedValue<Format>("gwc:log-format");

/** Makes errors of the process have the format of its log, until the returned function is called. */
export function offerLogFormat(format: () => Format): () => void {
  return FORMAT.offer(format);
}

/**
 * Writes an error to stderr: text as it is, or one JSON object with the fields of log lines. `configured`: the format if the
 * gateway does not run yet, which LOG_FORMAT overrides.
 */
export function writeError(
  message: string,
  {
    kind = "error",
    configured,
  }: { readonly kind?: "error" | "bug"; readonly configured?: Format | undefined } = {},
): void {
  const format = FORMAT.current ?? formatOf(process.env.LOG_FORMAT) ?? configured;
  const line = { level: "error", time: new Date().toISOString(), scope: "gateway", message };
  process.stderr.write(
    format === "json"
      ? `${JSON.stringify(line)}\n`
      : `${kind === "bug" ? "" : "error: "}${message}\n`,
  );
}

function formatOf(variable: string | undefined): Format | undefined {
  const word = variable?.toLowerCase();
  return word === "json" || word === "text" ? word : undefined;
}
