import type { UnopenedPort } from "../../runtime/discovery/resource-types.ts";
import type { Gateway } from "../../runtime/gateway/definition.ts";

/** Decides which ports of a shared Gateway a data plane can open. One that it cannot must not stop the others. */
export class OpenPorts {
  /** The definition that is served, and its open ports. */
  #gateway: Gateway | undefined;
  #open: ReadonlySet<number> = new Set();
  /** Ports that it lacks. */
  unopened: readonly UnopenedPort[] = [];

  /** Returns the ports of a definition that cannot be opened now. */
  async missingOf(gateway: Gateway): Promise<readonly UnopenedPort[]> {
    const found: UnopenedPort[] = [];
    for (const { port, address, config } of gateway.ports) {
      const place = { port, address, config };
      const problem = this.#open.has(port) ? undefined : await problemOf(place);
      if (problem !== undefined) found.push({ port, problem });
    }
    return found;
  }

  /** Records a definition that is served from now on without some of its ports. */
  served(gateway: Gateway, unopened: readonly UnopenedPort[]): void {
    const closed = unopened.map(({ port }) => port);
    this.#gateway = gateway;
    this.#open = new Set(withoutPorts(gateway, closed).ports.map(({ port }) => port));
    this.unopened = unopened;
  }

  /** Whether the served definition lacks other ports now than when it was served. */
  async haveChanged(): Promise<boolean> {
    if (this.#gateway === undefined || this.unopened.length === 0) return false;
    const now = await this.missingOf(this.#gateway);
    return JSON.stringify(now) !== JSON.stringify(this.unopened);
  }
}

/** Returns a definition without some of its ports. */
export function withoutPorts(gateway: Gateway, unopened: readonly number[]): Gateway {
  if (unopened.length === 0) return gateway;
  return { ...gateway, ports: gateway.ports.filter(({ port }) => !unopened.includes(port)) };
}

async function problemOf(
  place: Pick<Gateway["ports"][number], "port" | "address" | "config">,
): Promise<string | undefined> {
  const { checkFree, portPlace } = await import("gwc/runtime/gateway/listeners");
  const { EVERY_ADDRESS } = await import("gwc/runtime/gateway/start");
  return checkFree(portPlace(place, EVERY_ADDRESS)).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
