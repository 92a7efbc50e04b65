import type { Page } from "playwright-core";
import { GwcProcess } from "../harness/gwc.ts";

/** Starts `gwc run`; resolves with its admin page's URL. */
export async function startAdmin(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly running: GwcProcess }> {
  const running = new GwcProcess(["run", "-f", file], { env });
  const [, url = ""] = await running.seen(/admin page: (\S+)\n/);
  return { url, running };
}

/** Collects what a page prints on its console, and errors of its scripts. */
export function consoleOf(page: Page): readonly string[] {
  const lines: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "debug") lines.push(message.text());
  });
  page.on("pageerror", (error) => lines.push(String(error)));
  page.on("dialog", (dialog) => {
    lines.push(`dialog ${dialog.message()}`);
    return dialog.dismiss();
  });
  return lines;
}
