import type { Exchange } from "../../http/exchange.ts";

/** A question to a user: whether the gateway may use an account. */
export interface ConnectQuestion {
  /** Path of the form. */
  readonly action: string;
  readonly name: string;
  readonly resource: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly isConnected: boolean;
}

/** Returns the list of servers. */
export function listPage(
  url: string,
  servers: readonly { readonly name: string; readonly isConnected: boolean }[],
): string {
  const rows = servers.map(({ name, isConnected }) => {
    const state = isConnected ? "connected" : "not connected";
    return `<li><a href="${escaped(`${url}/${name}`)}">${escaped(name)}</a>: ${state}</li>`;
  });
  return page("Connected accounts", `<ul>${rows.join("")}</ul>`);
}

/** Returns the question whether the gateway may use an account. */
export function connectPage(question: ConnectQuestion): string {
  const { action, name, resource, issuer, scopes, isConnected } = question;
  const wanted =
    scopes.length === 0
      ? ""
      : `<p>It asks for: ${scopes.map((each) => `<code>${escaped(each)}</code>`).join(" ")}</p>`;
  const button = (value: string, label: string) =>
    `<button name="action" value="${value}">${label}</button>`;
  return page(
    `Connect ${name}`,
    `<p>This gateway will call <code>${escaped(resource)}</code> for you, for requests of your programs.</p>
<p>You log in at <code>${escaped(new URL(issuer).host)}</code> next.</p>${wanted}
<form method="post" action="${escaped(action)}">${button("connect", isConnected ? "Connect again" : "Connect")}
${isConnected ? button("disconnect", "Disconnect") : ""}</form>`,
  );
}

/** Returns the page after a connection. */
export function connectedPage(name: string, url: string): string {
  const list = `<a href="${escaped(url)}">Connected accounts</a>`;
  return page(
    `${name} is connected`,
    `<p>You can close this page and continue in your program.</p><p>${list}</p>`,
  );
}

/** Responds with a page that no other page can frame or change. `target`: where its form may lead in addition. */
export function respondPage(exchange: Exchange, html: string, target = ""): void {
  exchange.record.reason = "DirectResponse";
  const policy = [
    ...["default-src 'none'", "style-src 'unsafe-inline'", "frame-ancestors 'none'"],
    ...["base-uri 'none'", `form-action 'self' ${target}`.trim()],
  ];
  exchange.respond(
    200,
    [
      ...["content-type", "text/html; charset=utf-8", "cache-control", "no-store"],
      ...["content-security-policy", policy.join("; ")],
      ...["referrer-policy", "same-origin", "x-content-type-options", "nosniff"],
    ],
    html,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:16px system-ui;max-width:40em;margin:3em auto;padding:0 1em}</style></head>
<body><h1>${escaped(title)}</h1>${body}</body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}
