import { EventEmitter } from "node:events";
import { Tunnels } from "../../backends/dynamic/tunnels.ts";
import type { ServerConnection } from "../../net/connector.ts";
import { currentTrial } from "../trial.ts";

/** Replaces backends/dynamic/tunnels.ts: records each tunnel that would be opened, and closes it at once. */
class TrialTunnels extends Tunnels {
  protected override connector(
    ...[destination, gateway]: Parameters<Tunnels["connector"]>
  ): ReturnType<Tunnels["connector"]> {
    const found = super.connector(destination, gateway);
    if ("fault" in found) return found;
    const { host, port } = destination;
    const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    return (done) => {
      const call = { server: authority, method: "CONNECT", path: "", headers: [], body: "" };
      currentTrial().calls.push(call);
      done(null, new ClosingServer());
    };
  }
}

export { TrialTunnels as Tunnels };

/** A server that accepts a connection, and closes it without a byte. */
class ClosingServer extends EventEmitter implements ServerConnection {
  constructor() {
    super();
    setImmediate(() => {
      this.emit("end");
      this.emit("close");
    });
  }

  write(): boolean {
    return true;
  }

  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
}
