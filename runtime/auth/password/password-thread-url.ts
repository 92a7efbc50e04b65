/**
 * The module of the thread that checks passwords. In a bundle, which is one file, the compiler puts a `data:` URL with
 * the whole module in this place.
 */
export const passwordThread: URL = new URL("./password-thread.ts", import.meta.url);
