import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser } from "../harness/browser.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { root } from "../harness/root.ts";
import { describeUnless, NOT_LONG } from "../harness/skip.ts";
import { corsFor, startHostPage } from "./app-pages.ts";
import { matrixClients as clientsWith } from "./matrix/clients.ts";
import { type NineServers, startNineServers } from "./matrix/nine-servers.ts";
import { matrixPage, rowOf } from "./matrix/page.ts";
import { startRecorder } from "./matrix/recorder.ts";

/** Milliseconds: the first run installs clients and servers, and each session of a client starts seven servers. */
const PATIENCE = 900_000;

// It installs clients of several hundred megabytes.
describeUnless(missingBrowser ?? NOT_LONG)(
  "clients of nine real servers behind one endpoint",
  () => {
    let servers: NineServers;
    let gateway: Gateway;
    let page = "";
    const rows = new Map<string, string>();
    const matrixClients = clientsWith(() => page);

    beforeAll(async () => {
      servers = await startNineServers();
      page = await startHostPage();
      const policies = { cors: corsFor(page) };
      const route = { matches: [{ path: { exact: "/mcp" } }], policies };
      const backends = [{ mcp: { targets: servers.targets } }];
      gateway = await startGateway({ listeners: [{ routes: [{ ...route, backends }] }] });
    }, PATIENCE);

    // The gateway gives servers 10 s for a list, before which seven of them start. An overloaded machine may exceed that once.
    it.each(matrixClients)(
      "$name lists and calls the tools of all",
      { retry: 2, timeout: PATIENCE },
      async (client) => {
        const recorder = await startRecorder(`${gateway.url}/mcp`);
        const trial = await client.tries(recorder.url, servers.calls);
        const results = servers.calls.map(({ result }) => expect.stringContaining(result));
        expect(trial.results).toEqual(results);
        rows.set(client.name, rowOf(client, trial, recorder.announced()));
      },
    );

    it("the page of the reference has what the clients have shown", async ({ skip }) => {
      const missing = matrixClients.map(({ name }) => name).filter((name) => !rows.has(name));
      if (missing.length > 0) skip(`not tried: ${missing.join(", ")}`);
      const file = path.join(root, ".github/reference/mcp-clients.md");
      await expect(matrixPage([...rows.values()])).toMatchFileSnapshot(file);
    });
  },
);
