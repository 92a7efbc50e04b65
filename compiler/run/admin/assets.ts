import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { bundlePage } from "../../4-emit/bundle.ts";
import { adminAssets, adminPageBundle, adminPageEntry } from "../../installation.ts";

/** A file of the page. */
export interface PageAsset {
  readonly type: string;
  readonly body: string;
  /** Entity tag. */
  readonly tag: string;
}

/** The document, with a place for the key of the process. */
export const DOCUMENT = readFileSync(path.join(adminAssets, "index.html"), "utf8");

/** The document of the login. */
export const LOGIN_DOCUMENT = readFileSync(path.join(adminAssets, "login.html"), "utf8");

const FILES: Readonly<Record<string, readonly [type: string, read: () => Promise<string>]>> = {
  "page.css": ["text/css; charset=utf-8", async () => style()],
  "icon.svg": ["image/svg+xml", async () => text("icon.svg")],
  "page.js": ["text/javascript; charset=utf-8", script],
};

/** The files of the page, each read when it is first requested. */
export class PageAssets {
  readonly #read = new Map<string, Promise<PageAsset>>();

  /** Returns a file by its name; `undefined` if the page has no such file. */
  named(name: string): Promise<PageAsset> | undefined {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const [type, read] = (Object.hasOwn(FILES, name) && FILES[name]) || [];
    if (type === undefined || read === undefined) return undefined;
    const asset = read().then((body) => ({ type, body, tag: tagOf(body) }));
    this.#read.set(name, asset);
    asset.catch(() => this.#read.delete(name));
    return asset;
  }
}

/** Returns the style sheets in the order of their names. */
function style(): string {
  const folder = path.join(adminAssets, "style");
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .join("");
}

function text(name: string): string {
  return readFileSync(path.join(adminAssets, name), "utf8");
}

async function script(): Promise<string> {
  return adminPageBundle === undefined
    ? await bundlePage(adminPageEntry)
    : readFileSync(adminPageBundle, "utf8");
}

function tagOf(body: string): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}
