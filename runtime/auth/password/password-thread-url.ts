/**
 * The module of the thread that checks passwords. In a bundle, which is one file, the compiler puts a `data:` URL with
 * the whole module in this place.
 */
export const passwordThread: URL = new URL(import.meta.url.replace(/-url(\.\w+)$/, "$1"));
