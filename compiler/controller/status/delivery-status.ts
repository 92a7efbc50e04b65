import type { DeliveryState } from "../delivery/delivery.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";

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
  if (delivered === undefined) return status;
  const conditions = (of: unknown) =>
    itemsField(of, "conditions").map((each) => {
      const isHeldUp =
        textField(each, "type") === "Programmed" && textField(each, "status") === "True";
      return isHeldUp ? { ...recordOf(each), ...delivered } : each;
    });
  return {
    ...status,
    conditions: conditions(status),
    listeners: itemsField(status, "listeners").map((each) => ({
      ...recordOf(each),
      conditions: conditions(each),
    })),
  };
}

/** What a condition says that holds but for the data planes; undefined: it holds. */
function deliveredCondition(
  state: DeliveryState,
  generation: number | undefined,
): object | undefined {
  switch (state.kind) {
    case "taken":
      if (state.generation === generation) return undefined;
      return pending("its data planes have not taken the newest generation yet");
    case "refused":
      return {
        status: "False",
        reason: "Invalid",
        message: `a data plane goes on with what it had: ${state.problem}`,
      };
    case "pending":
      return pending(
        state.connected === 0
          ? "no data plane of this Gateway is connected"
          : "its data planes have not taken it yet",
      );
  }
}

function pending(message: string): object {
  return { status: "False", reason: "Pending", message };
}
