import type { PolicySettings } from "../../../compiler/ir/policies.ts";
import { upstreamSettings } from "../../backends/parts/connection.ts";
import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

type Target = PolicySettings["extAuthz"]["cases"][number]["value"]["target"];

/** Opens the connection to a gRPC server. */
export function grpcChannelCode({ url, connection }: Pick<Target, "url" | "connection">): Code {
  const open = imported("gwc/runtime/grpc/channel", "openGrpcChannel");
  return code`${open}(${literal(upstreamSettings(url, connection))})`;
}
