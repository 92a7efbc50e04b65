import type { GatewayContext } from "../../process/gateway-context.ts";
import { ReplicaAnnouncements } from "../../process/replica-announcements.ts";
import type { Channels } from "../../store/channels.ts";
import { Instances } from "../../store/instances.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { bridgedTargets, type McpSession } from "./session.ts";
import { type SessionTable, sessionTable } from "./session-table.ts";

/** A cancelled call. */
interface CancelledCall {
  /** The client's id of the session. */
  readonly session: string;
  /** The client's id of the request, as JSON text. */
  readonly request: string;
}

const instances = new Instances<Channels, ReplicaAnnouncements>();

/**
 * Lets this replica learn which calls were cancelled at others. Only the replica that sent a call to a server without sessions
 * knows it, and a client's cancellation may arrive at any replica.
 */
export function hearCancellations(gateway: GatewayContext): ReplicaAnnouncements | undefined {
  const channels = gateway.store?.channels;
  if (channels === undefined) return undefined;
  return instances.of(channels, () => {
    const table = sessionTable(gateway);
    return new ReplicaAnnouncements(channels, gateway.sessionKeys, (text) =>
      cancelHere(table, text),
    );
  });
}

/** Passes a cancellation on if no server without sessions has been sent its request from here. */
export function cancelElsewhere(
  gateway: GatewayContext,
  session: McpSession,
  cancellation: Message,
): void {
  const at = paramOf(cancellation, "requestId");
  const bridged = bridgedTargets(session);
  if (at === undefined || bridged.length === 0) return;
  const request = textAt(cancellation.text, at);
  if (bridged.some(([, { calls }]) => calls.has(request))) return;
  const cancelled: CancelledCall = { session: session.id, request };
  void hearCancellations(gateway)?.send(JSON.stringify(cancelled));
}

function cancelHere(table: SessionTable, text: string): void {
  // Authenticated JSON that a replica wrote itself.
  const { session: id, request }: CancelledCall = JSON.parse(text);
  const session = table.find(id);
  if (session === undefined) return;
  for (const [, { calls }] of bridgedTargets(session)) calls.get(request)?.takeBack();
}
