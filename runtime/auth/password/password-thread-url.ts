/**
 * Module of the thread that checks passwords. In a bundle, which is one file, the compiler replaces this module by a `data:`
 * URL of the whole thread.
 */
export const passwordThread: URL = new URL(import.meta.url.replace(/-url(\.\w+)$/, "$1"));
