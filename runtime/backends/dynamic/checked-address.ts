import { lookup } from "node:dns";
import { networkInterfaces } from "node:os";
import { ForbiddenDestination, type Lookup } from "../../net/connector.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { AddressRules } from "./address-rules.ts";

/** What judges the addresses that connections are opened to. */
export interface AddressCheck {
  readonly rules: AddressRules;
  readonly gateway: GatewayContext;
}

/** Why a connection to an address would not be opened; undefined: it would. */
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
 * Looks a name up once, and gives only the addresses that may be connected to: what was checked is what is connected to,
 * whatever the name stands for a moment later (DNS rebinding).
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

/** Addresses at which this process answers itself: it listens on every one of the machine. */
function isOwnAddress(address: string): boolean {
  if (/^(?:127\.|0\.|::1?$)/.test(address)) return true;
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((known) => known.address === address),
  );
}
