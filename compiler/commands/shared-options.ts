import type { Option } from "./command.ts";

/** `--file`: a file like those that are given without an option, because other tools take them so. */
export const fileOption: Option = {
  name: "file",
  short: "f",
  value: "FILE",
  isArgument: true,
  summary: "the same as FILE without the option",
};
/** `--gateway`: selects one Gateway. */
export const gateway: Option = {
  name: "gateway",
  value: "NS/NAME",
  summary: "consider only this Gateway, if manifests have several",
};
/** `--render`: compares rendered manifests. */
export const renderOption: Option = {
  name: "render",
  value: "COMMAND",
  summary: "with --git: compare the manifests that a command prints in both revisions",
};
/** `--strict`: warnings count as errors. */
export const strict: Option = { name: "strict", summary: "treat warnings as errors" };

/** `--help`, which every command takes. */
export const help: Option = { name: "help", short: "h", summary: "print this help" };

/** `--color`, which every command takes. */
export const color: Option = {
  name: "color",
  value: "WHEN",
  choices: ["auto", "always", "never"],
  summary: "colors in the output; auto: on a terminal, unless NO_COLOR is set (default: auto)",
};

/** Options of every command. */
export const commonOptions: readonly Option[] = [color, help];
