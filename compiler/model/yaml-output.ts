/**
 * Options for YAML that other programs read. Those in Go follow YAML 1.1 in part: without quotes, kubectl and Prometheus read the
 * strings `Off`, `yes` and `1_000` as a boolean or a number.
 */
export const YAML_OUTPUT = { lineWidth: 0, compat: "yaml-1.1" } as const;
