import { startBrowser } from "../../harness/browser.ts";
import { APP_TOOL } from "./nine-servers.ts";
import type { Trial, TryClient } from "./trial.ts";

/** Returns how a page that hosts apps is tried, in a real browser. */
export function tryAppHost(page: () => string): TryClient {
  return async (url, calls) => {
    const browser = await startBrowser();
    const tab = await browser.newPage();
    await tab.goto(page());
    await tab.waitForFunction("typeof render === 'function'");
    const found = (await tab.evaluate(
      `callAll(${JSON.stringify(url)}, ${JSON.stringify(calls)})`,
    )) as Pick<Trial, "tools" | "results">;
    await tab.evaluate(`render(${JSON.stringify(url)}, ${JSON.stringify(APP_TOOL)})`);
    // The example of MCP Apps shows the time of its server.
    await tab.frameLocator("iframe").getByText("Server Time").first().waitFor();
    await browser.close();
    return { ...found, asked: "", app: "rendered" };
  };
}
