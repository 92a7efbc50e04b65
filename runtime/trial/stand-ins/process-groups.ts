export { signalGroup } from "../../mcp/transports/process-groups.ts";

/** In the place of mcp/transports/process-groups.ts: no process is started that could be left behind. */
export class ProcessGroups {
  add(): void {}

  delete(): void {}
}
