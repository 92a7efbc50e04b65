import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { PATIENCE } from "./patience.ts";

/** Debian's browser. */
export const browserPath: string = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Reason to skip tests with a browser; CI has to have one. */
export const missingBrowser: string | undefined =
  existsSync(browserPath) || process.env.CI !== undefined
    ? undefined
    : "Debian's chromium is not installed";

/** Starts a browser. It is gone at the end of the test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: browserPath,
    timeout: PATIENCE,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
  });
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE));
  atEnd(() => browser.close());
  return browser;
}
