/** The lines before the samples of a metric. */
export function head(name: string, type: "counter" | "gauge" | "histogram", help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** A label value: backslash, quote and line feed are escaped. */
export function label(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
