import { isIPv6 } from "node:net";
import type { UnopenedPort } from "../../../runtime/discovery/resource-types.ts";
import type { GatewayPort } from "../../status/concerned-gateways.ts";
import type { DeliveryState } from "../delivery/delivery.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { unlessProgrammed, withProgrammed } from "./with-programmed.ts";

/**
 * The status of a Gateway with what its data planes made of it: it is programmed, and so are its listeners, when all of
 * them have taken the code of its newest generation.
 */
export function withDelivery(
  status: object,
  state: DeliveryState,
  generation: number | undefined,
): object {
  const delivered = deliveredCondition(state, generation);
  return delivered === undefined ? status : withProgrammed(status, delivered);
}

/** Returns why a condition does not hold because of the data planes; `undefined` if it holds. */
function deliveredCondition(
  state: DeliveryState,
  generation: number | undefined,
): object | undefined {
  switch (state.kind) {
    case "taken":
      if (state.generation === generation) return uncalledMessage(state.uncalled);
      return pending("its data planes have not taken the newest generation yet");
    case "refused":
      return {
        status: "False",
        reason: "Invalid",
        message: state.problem,
      };
    case "pending":
      return pending(
        state.connected === 0
          ? "no data plane of this Gateway is connected"
          : "its data planes have not taken it yet",
      );
  }
}

/**
 * The status of a Gateway or ListenerSet with the listeners whose ports its data planes cannot open. `spec`: of the
 * object.
 */
export function withUnopened(
  status: object,
  unopened: readonly UnopenedPort[],
  spec: unknown,
): object {
  if (unopened.length === 0) return status;
  const problems = new Map(unopened.map(({ port, problem }) => [port, problem]));
  const closed = new Map(
    itemsField(spec, "listeners").flatMap((each) => {
      const { name, port } = recordOf(each) ?? {};
      const problem = problems.get(Number(port));
      return problem === undefined ? [] : [[name, problem] as const];
    }),
  );
  const [first] = closed.values();
  if (first === undefined) return status;
  const listeners = itemsField(status, "listeners").map((each) => {
    const message = closed.get(recordOf(each)?.name);
    if (message === undefined) return each;
    return { ...recordOf(each), conditions: unlessProgrammed(each, unavailable(message)) };
  });
  if (closed.size === itemsField(spec, "listeners").length)
    return { ...status, listeners, conditions: unlessProgrammed(status, unavailable(first)) };
  return { ...status, listeners, conditions: withInvalidListeners(status, first) };
}

/**
 * The status of a route all of whose ports data planes cannot open. `unopenedOf`: the ports of a Gateway that are not
 * open.
 */
export function withUnopenedPorts(
  status: object,
  ports: readonly GatewayPort[],
  unopenedOf: (gateway: string) => readonly UnopenedPort[],
): object {
  const problems = ports.map(
    ({ gateway, port }) => unopenedOf(gateway).find((each) => each.port === port)?.problem,
  );
  const [message] = problems;
  if (message === undefined || problems.includes(undefined)) return status;
  const condition = { type: "Programmed", ...unavailable(message) };
  const parents = itemsField(status, "parents").map((each) => {
    const others = itemsField(each, "conditions").filter(
      (other) => textField(other, "type") !== "Programmed",
    );
    return { ...recordOf(each), conditions: [...others, condition] };
  });
  return { ...status, parents };
}

function unavailable(message: string): object {
  return { status: "False", reason: "PortUnavailable", message };
}

/** Conditions that say that some listeners are not served (Gateway API). */
function withInvalidListeners(status: object, message: string): readonly unknown[] {
  return itemsField(status, "conditions").map((each) => {
    const isAccepted =
      textField(each, "type") === "Accepted" && textField(each, "status") === "True";
    return isAccepted ? { ...recordOf(each), reason: "ListenersNotValid", message } : each;
  });
}

/** Names in a message, at most: a status has a length. */
const MAX_NAMED = 5;

/** Reports pods that are not called although the Gateway is programmed; `undefined` if all are called. */
function uncalledMessage(services: readonly string[]): object | undefined {
  if (services.length === 0) return undefined;
  const named = services.slice(0, MAX_NAMED).map((each) => `"${each}"`);
  const more = services.length > MAX_NAMED ? ` and ${services.length - MAX_NAMED} more` : "";
  const message =
    `pods of ${named.join(", ")}${more} are not called: their mesh has no sidecars and takes HBONE, which is not built, ` +
    "and plain text is no part of a mesh";
  return { message };
}

function pending(message: string): object {
  return { status: "False", reason: "Pending", message };
}

/**
 * The status of a Gateway with the addresses of its Service. Without one of those that it asks for it is not programmed: the
 * load balancer has given others, or none yet.
 */
export function withAddresses(
  status: object,
  gateway: ApiObject | undefined,
  service: ApiObject | undefined,
): object {
  const addresses = gatewayAddresses(service);
  const found = new Set(addresses.map(({ value }) => plainAddress(value)));
  const missing = itemsField(gateway?.spec, "addresses")
    .flatMap((each) => textField(each, "value") ?? [])
    .filter((value) => value !== "" && !found.has(plainAddress(value)));
  if (missing.length === 0) return { ...status, addresses };
  const wanted = missing.join(", ");
  const own =
    addresses.length === 0
      ? {
          reason: "AddressNotAssigned",
          message: `its Service has no address yet, and asks the load balancer for ${wanted}`,
        }
      : {
          reason: "AddressNotUsable",
          message:
            `its Service does not have the address ${wanted}: ask for addresses that the load balancer of the cluster has, ` +
            "and that nobody else uses",
        };
  return {
    ...status,
    conditions: unlessProgrammed(status, { status: "False", ...own }),
    addresses,
  };
}

/** An IP address in the one form that it has in URLs: IPv6 may be written in several. */
function plainAddress(value: string): string {
  return isIPv6(value) ? new URL(`http://[${value}]/`).hostname : value;
}

/**
 * Returns the addresses of a Gateway: those of its Service's load balancer, or the Service's own if it requests none.
 * The address of a balancer that is still to come is unknown.
 */
function gatewayAddresses(service: ApiObject | undefined): readonly GatewayAddress[] {
  const balancer = recordOf(recordOf(service?.status)?.loadBalancer);
  const found = itemsField(balancer, "ingress").flatMap((each): readonly GatewayAddress[] => {
    const [ip, hostname] = [textField(each, "ip"), textField(each, "hostname")];
    if (ip !== undefined) return [{ type: "IPAddress", value: ip }];
    return hostname === undefined ? [] : [{ type: "Hostname", value: hostname }];
  });
  if (found.length > 0 || textField(service?.spec, "type") === "LoadBalancer") return found;
  const own = textField(service?.spec, "clusterIP");
  return own === undefined || own === "None" ? [] : [{ type: "IPAddress", value: own }];
}

/** An address in the status of a Gateway (Gateway API). */
interface GatewayAddress {
  readonly type: "IPAddress" | "Hostname";
  readonly value: string;
}
