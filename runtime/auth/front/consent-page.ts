import { browserPage, escapeHtml } from "../browser-page.ts";
import { redirectPlace } from "./note-client.ts";
import type { Authorization } from "./seals.ts";

/**
 * Returns the question whether a program may get a token. The name is only a claim, so the page shows where the program is: only
 * who controls that place gets the code.
 */
export function consentPage(
  { name, redirectUri, scopes }: Authorization,
  action: string,
  sealed: string,
  provider: string,
): string {
  const program =
    name === undefined
      ? "A program without a name"
      : `A program that calls itself <strong id="client">${escapeHtml(name)}</strong>`;
  const wanted =
    scopes.length === 0
      ? ""
      : `<p>It asks for: ${scopes.map((each) => `<code>${escapeHtml(each)}</code>`).join(" ")}</p>`;
  return browserPage(
    "Allow this program?",
    `<p>${program} asks to use the tools of this gateway in your name.</p>
<p>It gets the access at <strong id="redirect">${escapeHtml(shownPlace(redirectUri))}</strong>.</p>${wanted}
<p>Allow it only if you have just started this in that program. You log in at <code>${escapeHtml(provider)}</code> next.</p>
<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="request" value="${escapeHtml(sealed)}">
<button name="decision" value="deny">Deny</button> <button name="decision" value="allow">Allow</button></form>`,
  );
}

/**
 * Returns a page that leads on. Chromium applies `form-action` to all redirects after a form, up to the program's own address, so
 * the response to the form is a page and not a redirect.
 */
export function onwardPage(title: string, url: string, label: string): string {
  const to = escapeHtml(url);
  return browserPage(
    title,
    `<p><a href="${to}" rel="noreferrer">${escapeHtml(label)}</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${to}">`,
  );
}

/** Returns a page that says why there is no authorization. */
export function refusalPage(problem: string): string {
  return browserPage("This program is not allowed", `<p>${escapeHtml(problem)}.</p>`);
}

function shownPlace(redirectUri: string): string {
  const place = redirectPlace(redirectUri);
  if (place.startsWith("https:")) return new URL(redirectUri).host;
  if (place.startsWith("http:")) return `this computer (${new URL(redirectUri).host})`;
  return `the program of this computer that opens ${place}`;
}
