export { signalGroup } from "../../mcp/transports/process-groups.ts";

/** Replaces mcp/transports/process-groups.ts: a trial starts no processes that could be left behind. */
export class ProcessGroups {
  add(): void {}

  delete(): void {}
}
