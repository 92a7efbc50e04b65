import type { Exchange } from "../../http/exchange.ts";
import { forwardedQuery } from "../calls/forwarded-query.ts";
import { passTo, withQuery } from "../pass-through.ts";
import { readUpload, serveFile, uploadForChats } from "./chat-files.ts";
import { pathBelow, pathOfStored, type StoreService } from "./object-store.ts";
import { refuseLists, serveBelow } from "./serve-stored.ts";

/** Serves files of Anthropic, which messages may name. `api`: path of the API. */
export function serveMessageFiles(
  exchange: Exchange,
  service: StoreService,
  api: string,
): Promise<void> {
  return serveBelow(exchange, service, api, async ({ id, action }) => {
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("files");
      const uploaded = await readUpload(exchange, service);
      if (uploaded !== undefined) uploadForChats(exchange, service, uploaded, "file_");
      return;
    }
    serveFile(exchange, service, { kind: "file_", id, action }, (stored) => {
      const { timeout } = service;
      const below = pathBelow(stored.store, pathOfStored(stored, "content"));
      const path = withQuery(below, forwardedQuery(exchange));
      passTo(exchange, stored.store.provider, { path, ...(timeout !== undefined && { timeout }) });
    });
  });
}
