import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { WebPage } from "../chat/web-search.ts";
import { isFilledText, providerText } from "./parse-object.ts";

/** Reads a list of pages, or of citations of pages. Items without an address are left out. */
export function readPages(list: unknown): readonly WebPage[] {
  const items = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return items.flatMap(readPage);
}

/** Reads a page; none if it has no address. Some providers name it `uri`. */
export function readPage({ url, uri, title }: JsonObject): readonly WebPage[] {
  const address = url ?? uri;
  return isFilledText(address) ? [{ url: address, title: providerText(title) ?? "" }] : [];
}

/** Returns the citations of a text block; nothing if there are none. */
export function citing(pages: readonly WebPage[]): { readonly citations?: readonly WebPage[] } {
  return pages.length === 0 ? {} : { citations: pages };
}
