import type { Option } from "./command.ts";

/** The Gateway that is meant. */
export const gateway: Option = {
  name: "gateway",
  value: "NS/NAME",
  summary: "the one Gateway that is meant, of manifests with several",
};
/** How warnings count. */
export const strict: Option = { name: "strict", summary: "warnings are mistakes too" };

/** The option of every verb. */
export const help: Option = { name: "help", short: "h", summary: "this text, or a verb's" };
