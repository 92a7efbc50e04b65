import type { Exchange } from "../../http/exchange.ts";
import { passContent, readUpload, refuseGuarded, serveFile, uploadForChats } from "./chat-files.ts";
import { pathOfStored, type StoreService } from "./object-store.ts";
import { refuseLists, serveBelow } from "./serve-stored.ts";

/** Serves files of Anthropic, which messages may name. `api`: path of the API. */
export function serveMessageFiles(
  exchange: Exchange,
  service: StoreService,
  api: string,
): Promise<void> {
  return serveBelow(exchange, service, api, async ({ id, action, more }) => {
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("files");
      const uploaded = await readUpload(exchange, service);
      if (uploaded !== undefined) uploadForChats(exchange, service, uploaded, "file_");
      return;
    }
    serveFile(exchange, service, { kind: "file_", id, action, more }, (stored) => {
      refuseGuarded(stored.store);
      passContent(exchange, service, stored.store, pathOfStored(stored, "content"));
    });
  });
}
