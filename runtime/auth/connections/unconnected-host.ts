import { noteRefusal } from "../../http/refuse.ts";
import { pageHeaders } from "../browser-page.ts";
import { asksForPage } from "../oidc/browser.ts";
import type { LocalResponse, UnconnectedServer, UserConnectionUse } from "./connected-upstream.ts";
import { pageOf, unconnectedPage } from "./pages.ts";

/**
 * An HTTP server for users who have not connected their account: a person gets a page with the link, and a program a 403 with
 * the URL as JSON. Not 401, because the caller's own token is valid.
 */
export function unconnectedHost(use: UserConnectionUse): UnconnectedServer {
  return {
    respond: ({ exchange }): LocalResponse => {
      const url = pageOf(use);
      const message = `open ${url} in a browser to connect your account at ${use.name}`;
      if (exchange !== undefined) noteRefusal(exchange, "Oidc", message);
      if (exchange !== undefined && asksForPage(exchange))
        return { status: 403, headers: pageHeaders(), body: unconnectedPage(use) };
      const body = { error: "account_not_connected", connection: use.name, url, message };
      return {
        status: 403,
        headers: ["content-type", "application/json", "cache-control", "no-store"],
        body: `${JSON.stringify(body)}\n`,
      };
    },
    intercept: () => undefined,
  };
}
