import type { JsonObject } from "../../cel/variables.ts";
import { type DocumentSettings, remoteDocument } from "../../http/upstream/remote-document.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { type KeySet, readKeySet } from "./key-set.ts";
import type { KeySource } from "./key-source.ts";

/** A key set that is fetched. */
export interface RemoteKeysSettings {
  readonly url: string;
  /** Milliseconds after which the keys are fetched again, in the background. */
  readonly cacheDuration: number;
  /** The server of the URL, when it is reached in a way of its own. */
  readonly server?: Upstream;
}

/**
 * Keys from a URL. They are fetched when the first token needs them, again when they are older than `cacheDuration`, and
 * at most every 10 seconds for a key that is not among them. Old keys stay in use while the server can't be reached.
 * What was fetched belongs to the process and outlives a reload.
 */
export function remoteKeys({ url, cacheDuration, server }: RemoteKeysSettings): KeySource {
  const settings: DocumentSettings = {
    name: `key set ${url}`,
    what: "key set",
    urls: [url],
    ...(server && { server }),
    accept: readKeySet,
  };
  let read: { readonly from: JsonObject; readonly set: KeySet } | undefined;
  const toKeySet = (document: JsonObject | undefined): KeySet | undefined => {
    if (document === undefined) return undefined;
    if (read?.from !== document) read = { from: document, set: readKeySet(document) };
    return read.set;
  };
  return {
    current: (gateway) => toKeySet(remoteDocument(gateway, settings).current(cacheDuration)),
    renewed: async (gateway) => toKeySet(await remoteDocument(gateway, settings).renewed()),
  };
}
