import { eventually } from "./eventually.ts";
import { expositionOf } from "./exposition.ts";
import type { Gateway } from "./gateway.ts";

/** Waits until a gateway has reached its store: after three seconds it starts without it. */
export async function storeResponds(gateway: Gateway): Promise<void> {
  const port = await gateway.statsPort();
  await eventually(
    async () => (await expositionOf(port)).value("gwc_store_up") === 1 || null,
    "the store",
  );
}
