import { sseMessage } from "../../http/body/sse.ts";

/** Notifications after a reload: other rules may show other tools, prompts and resources. */
export const listsChanged: string = ["tools", "prompts", "resources"]
  .map((kind) => sseMessage(`{"jsonrpc":"2.0","method":"notifications/${kind}/list_changed"}`))
  .join("");
