import type { Option } from "./command.ts";

/** `--gateway`: selects one Gateway. */
export const gateway: Option = {
  name: "gateway",
  value: "NS/NAME",
  summary: "consider only this Gateway, if manifests have several",
};
/** `--strict`: warnings count as errors. */
export const strict: Option = { name: "strict", summary: "treat warnings as errors" };

/** `--help`, which every command takes. */
export const help: Option = { name: "help", short: "h", summary: "print this help" };
