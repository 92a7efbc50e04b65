import type { JsonObject } from "../../cel/variables.ts";
import { type DocumentSettings, remoteDocument } from "../../http/upstream/remote-document.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { type KeySet, readKeySet } from "./key-set.ts";
import type { KeySource } from "./key-source.ts";

/** Settings of a fetched key set. */
export interface RemoteKeysSettings {
  readonly url: string;
  /** Milliseconds after which the keys are refreshed in the background. */
  readonly cacheDuration: number;
  /** Server of the URL, if it has its own connection settings. */
  readonly server?: Upstream;
}

/**
 * Fetches keys from a URL: for the first token, when they are older than `cacheDuration`, and at most every 10 seconds for
 * an unknown key. Old keys remain in use while the server is unreachable. Fetched keys belong to the process and outlive a
 * reload.
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
