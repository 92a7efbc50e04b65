import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { bytes, milliseconds } from "../../code/units.ts";
import { upstreamSettings } from "./connection.ts";

type PickingNode = Pick<BackendNode<"inferencePool">, "picker" | "passesOnFailure">;

/** Returns the settings of an endpoint picker, which gets requests and responses whole. `maxBody`: in bytes. */
export function endpointPicker(
  { picker, passesOnFailure }: PickingNode,
  maxBody: number,
): Readonly<Record<string, Printable>> {
  const channel = imported("gwc/runtime/grpc/channel", "openGrpcChannel");
  return {
    server: code`${channel}(${literal(upstreamSettings(picker.url, picker.connection))})`,
    deadline: milliseconds(picker.deadline),
    passesOnFailure,
    requestHeaders: "send",
    requestBody: "fullDuplex",
    responseHeaders: "send",
    responseBody: "fullDuplex",
    requestTrailers: "skip",
    responseTrailers: "skip",
    allowsModeOverride: false,
    maxBody: bytes(maxBody),
  };
}
