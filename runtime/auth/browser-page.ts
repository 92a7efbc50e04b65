import type { Exchange } from "../http/exchange.ts";

/** Properties of a page for a person. */
export interface PageOptions {
  /** Status of the response; 200 if absent. */
  readonly status?: number;
  /** Origins or protocols (`https:`) where its form may lead besides the gateway; absent if nowhere. */
  readonly target?: string;
  readonly cookies?: readonly string[];
}

/** Responds with a page that no other page can frame or change, and that runs no scripts. */
export function respondPage(
  exchange: Exchange,
  html: string,
  { status = 200, target = "", cookies = [] }: PageOptions = {},
): void {
  exchange.record.reason ??= "DirectResponse";
  const headers = [...pageHeaders(target), ...cookies.flatMap((each) => ["set-cookie", each])];
  exchange.respond(status, headers, html);
}

/** Returns the headers of a page that no other page can frame or change. `target`: where its form may lead in addition. */
export function pageHeaders(target = ""): readonly string[] {
  const policy = [
    ...["default-src 'none'", "style-src 'unsafe-inline'", "frame-ancestors 'none'"],
    ...["base-uri 'none'", `form-action 'self' ${target}`.trim()],
  ];
  return [
    ...["content-type", "text/html; charset=utf-8", "cache-control", "no-store"],
    ...["content-security-policy", policy.join("; "), "x-frame-options", "DENY"],
    ...["referrer-policy", "same-origin", "x-content-type-options", "nosniff"],
  ];
}

/** Returns a page. `body` and `head` are HTML, the title is a string. */
export function browserPage(title: string, body: string, head = ""): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">${head}
<title>${escapeHtml(title)}</title>
<style>body{font:16px system-ui;max-width:40em;margin:3em auto;padding:0 1em}</style></head>
<body><h1>${escapeHtml(title)}</h1>${body}</body></html>`;
}

/** Writes a string as text or as a quoted attribute of HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}
