import { lookup } from "node:dns";
import { networkInterfaces } from "node:os";
import { ForbiddenDestination, type Lookup } from "../../net/connector.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { AddressRules } from "./address-rules.ts";

/** Rules for addresses of connections. */
export interface AddressCheck {
  readonly rules: AddressRules;
  readonly gateway: GatewayContext;
}

/** Returns why a connection to an address would be refused; `undefined` if it is allowed. */
export function addressRefusal(
  address: string,
  port: number,
  { rules, gateway }: AddressCheck,
): string | undefined {
  const refusal = rules.refusal(address);
  if (refusal !== undefined) return refusal;
  const isLoop = gateway.ports.has(port) && isOwnAddress(address);
  return isLoop ? `${address}:${port} is this gateway` : undefined;
}

/**
 * Resolves a name once and returns only allowed addresses. The checked address is the one that is connected to, even if the
 * name changes a moment later (DNS rebinding).
 */
export function checkedLookup(port: number, check: AddressCheck): Lookup {
  return (name, done) => {
    lookup(name, { all: true }, (error, found) => {
      if (error !== null) {
        done(error, []);
        return;
      }
      const refusals = found.map(({ address }) => addressRefusal(address, port, check));
      const allowed = found.filter((_, index) => refusals[index] === undefined);
      const refusal = refusals[0] ?? "it has no address";
      done(allowed.length === 0 ? new ForbiddenDestination(refusal) : null, allowed);
    });
  };
}

/** Whether an address belongs to this machine, on all of whose addresses the process listens. */
function isOwnAddress(address: string): boolean {
  if (/^(?:127\.|0\.|::1?$)/.test(address)) return true;
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((known) => known.address === address),
  );
}
