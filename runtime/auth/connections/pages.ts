import { browserPage, escapeHtml } from "../browser-page.ts";
import type { UserConnectionUse } from "./connected-upstream.ts";

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
    return `<li><a href="${escapeHtml(`${url}/${name}`)}">${escapeHtml(name)}</a>: ${state}</li>`;
  });
  return browserPage("Connected accounts", `<ul>${rows.join("")}</ul>`);
}

/** Returns the question whether the gateway may use an account. */
export function connectPage(question: ConnectQuestion): string {
  const { action, name, resource, issuer, scopes, isConnected } = question;
  const wanted =
    scopes.length === 0
      ? ""
      : `<p>It asks for: ${scopes.map((each) => `<code>${escapeHtml(each)}</code>`).join(" ")}</p>`;
  const button = (value: string, label: string) =>
    `<button name="action" value="${value}">${label}</button>`;
  return browserPage(
    `Connect ${name}`,
    `<p>This gateway will call <code>${escapeHtml(resource)}</code> for you, for requests of your programs.</p>
<p>You log in at <code>${escapeHtml(new URL(issuer).host)}</code> next.</p>${wanted}
<form method="post" action="${escapeHtml(action)}">${button("connect", isConnected ? "Connect again" : "Connect")}
${isConnected ? button("disconnect", "Disconnect") : ""}</form>`,
  );
}

/** Returns the page after a connection. */
export function connectedPage(name: string, url: string): string {
  const list = `<a href="${escapeHtml(url)}">Connected accounts</a>`;
  return browserPage(
    `${name} is connected`,
    `<p>You can close this page and continue in your program.</p><p>${list}</p>`,
  );
}

/** Returns the page for a person whose account is not connected. */
export function unconnectedPage(use: UserConnectionUse): string {
  const link = `<a href="${escapeHtml(pageOf(use))}">Connect ${escapeHtml(use.name)}</a>`;
  return browserPage(
    `${use.name} is not connected`,
    `<p>This page needs your account at ${escapeHtml(use.name)}.</p><p>${link}, then load this page again.</p>`,
  );
}

/** Returns the URL at which a user connects. */
export function pageOf({ page, name }: UserConnectionUse): string {
  return `${page}/${encodeURIComponent(name)}`;
}
