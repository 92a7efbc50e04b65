import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { eventually } from "../../harness/eventually.ts";

/** The tools that a client gets, as soon as they are like this. */
export function listed(
  port: number,
  isWanted: (names: readonly string[]) => boolean,
  at = "/mcp",
): Promise<readonly string[]> {
  let last = "";
  return eventually(
    async () => {
      const client = new Client({ name: "test", version: "1.0.0" });
      try {
        const transport = new StreamableHTTPClientTransport(
          new URL(`http://127.0.0.1:${port}${at}`),
        );
        // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
        await client.connect(transport as Parameters<typeof client.connect>[0]);
        const names = (await client.listTools()).tools.map(({ name }) => name);
        last = names.join();
        return isWanted(names) ? names : null;
      } catch (error) {
        last = String(error);
        return null;
      } finally {
        await client.close();
      }
    },
    () => `tools, which are ${last}`,
  );
}
